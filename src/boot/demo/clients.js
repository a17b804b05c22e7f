// Who talks to the gateway of a demo: visitors, and clients of the API.

import { request } from 'node:http';

/**
 * Sends a request as a visitor. Browsers resolve all names below `localhost` to this machine; Node uses the system's
 * resolver, which may not.
 * @param {string} url
 * @param {string} listener `host:port`
 * @returns {Promise<{ status: number | undefined, body: string }>}
 */
export function visit(url, listener) {
  const [host, port] = listener.split(':');
  return new Promise((resolve, reject) => {
    // Each comes on a connection of its own.
    request({ host, port, agent: false, headers: { Host: new URL(url).host } }, async (response) => {
      try {
        let body = '';
        for await (const chunk of response) body += chunk;
        resolve({ status: response.statusCode, body: body.trim() });
      } catch (error) {
        reject(error);
      }
    })
      .on('error', reject)
      .end();
  });
}

/**
 * @param {string} base the URL of the API.
 * @param {string} key an API key.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
export async function callApi(base, key, method, path, body) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      'Service-Version': '2',
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}
