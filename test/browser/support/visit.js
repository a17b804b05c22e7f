import { request } from 'node:http';

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
