// Makes the page of GraphiQL, in a thread of its own: it takes hundreds of milliseconds of work.
// Plain JavaScript: the same file is loaded from src/ by the tests and from dist/ by the gateway.

import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { EXAMPLES, VARIABLES } from './graphiql-examples.js';

if (!parentPort) throw new Error('graphiql-page.js runs in a worker thread only');

const headers = JSON.stringify({ Authorization: 'Bearer <API key>' });
const options = {
  title: 'Tunnel Gateway',
  endpoint: '/graphql',
  headers,
  subscriptionsProtocol: 'SSE',
  defaultTabs: [{ query: EXAMPLES, variables: JSON.stringify(VARIABLES, null, 2), headers }],
};
// As browsers read lines, which the digest below is of.
const html = withSessionStorage(renderGraphiQL(/** @type {any} */ (options)))
  .replace(/\r\n?/g, '\n')
  .trimStart();
const bytes = new TextEncoder().encode(html);
parentPort.postMessage({ bytes, policy: policyOf(html) }, [bytes.buffer]);

/**
 * Only the script that is in the page, and the workers that it makes; nothing to elsewhere, and no page around it that
 * could lead a click astray. Its editor writes styles as it goes.
 * @param {string} page
 */
function policyOf(page) {
  const start = page.indexOf('<script>');
  const end = page.lastIndexOf('</script>');
  if (start < 0 || end < start) throw new Error('GraphiQL has another form than its policy is made for');
  const digest = createHash('sha256')
    .update(page.slice(start + '<script>'.length, end))
    .digest('base64');
  return [
    "default-src 'none'",
    `script-src 'sha256-${digest}'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    'font-src data:',
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * GraphiQL keeps the headers, with the API key in them, in what it stores. That of a session ends with the browser's tab,
 * and no other tab reads it. What earlier versions of the page left in `localStorage` is removed.
 * @param {string} page
 */
function withSessionStorage(page) {
  const given = JSON.stringify(options);
  const at = page.lastIndexOf(given);
  const call = page.lastIndexOf('YogaGraphiQL.renderYogaGraphiQL(', at);
  if (at < 0 || call < 0) throw new Error('GraphiQL has another form than its storage is chosen for');
  const removal =
    "for (const name of Object.keys(localStorage)) if (name.startsWith('graphiql:')) localStorage.removeItem(name);";
  return (
    page.slice(0, call) +
    `${removal}\n        ` +
    page.slice(call, at) +
    `{ ...${given}, storage: sessionStorage }` +
    page.slice(at + given.length)
  );
}
