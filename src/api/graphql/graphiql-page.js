// Makes the page of GraphiQL, in a thread of its own: it takes hundreds of milliseconds of work.
// Plain JavaScript: the same file is loaded from src/ by the tests and from dist/ by the gateway.

import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

/** What GraphiQL shows first. */
const WELCOME = `# The management API of your tunnel gateway. Put an API key into "Headers" below,
# press Ctrl-Enter to run, Ctrl-Space to see what there is; the book on the left explains everything.

{
  credentials(first: 10) {
    nodes {
      id
      description
      acl
      owner {
        __typename
        active
      }
    }
    totalCount
  }
}
`;

if (!parentPort) throw new Error('graphiql-page.js runs in a worker thread only');

const options = {
  title: 'Tunnel Gateway',
  endpoint: '/graphql',
  headers: JSON.stringify({ Authorization: 'Bearer <API key>' }),
  subscriptionsProtocol: 'SSE',
  defaultQuery: WELCOME,
};
// As browsers read lines, which the digest below is of.
const html = renderGraphiQL(/** @type {any} */ (options))
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
