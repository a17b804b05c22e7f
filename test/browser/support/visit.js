import { request } from 'node:http';
import { request as requestByTls } from 'node:https';

/**
 * Sends a request to an endpoint of this machine.
 * @param {string} address its public URL
 * @param {string} path
 * @returns {Promise<number>} the status of the response
 */
export function visit(address, path) {
  const { host, port } = new URL(address);
  return new Promise((resolve, reject) => {
    // Not every system resolves names below `localhost`.
    request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

/**
 * Sends a request to a name that an edge or a cloud endpoint answers. Its certificate is not checked.
 * @param {string} listener host and port of the HTTPS listener
 * @param {string} name
 * @param {Record<string, string>} [headers]
 * @returns {Promise<{ status: number, headers: import('node:http').IncomingHttpHeaders, body: string }>}
 */
export function visitName(listener, name, headers = {}) {
  const [host, port] = listener.split(':');
  return new Promise((resolve, reject) => {
    const options = { host, port, servername: name, headers: { host: name, ...headers }, rejectUnauthorized: false };
    requestByTls(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    })
      .on('error', reject)
      .end();
  });
}
