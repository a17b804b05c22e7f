// Serves the agent and its installer. They are for everybody: an authtoken is what lets an agent in.

import type { ApiApp } from '../context.ts';
import type { ApiExchange } from '../exchange.ts';
import { type CachedBody, encodedBody, sendCached } from '../http/cached-body.ts';
import { sendError } from '../http/responses.ts';
import type { AgentFiles } from './files.ts';
import { installScript } from './install-script.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const SHELL = 'text/x-shellscript; charset=utf-8';

type Respond = (exchange: ApiExchange) => void;

/**
 * The documents of the agent by their paths.
 * @param files undefined: the agent was not built, and nothing is at the paths.
 * @param countStranger counts a request of nobody, and throws when there were too many: the script takes queries to write.
 */
export function agentDocuments(
  files: AgentFiles | undefined,
  app: ApiApp,
  countStranger: (exchange: ApiExchange) => void,
): Record<string, Respond> {
  if (!files) return {};
  // Only as it is: its digest is that of the bytes that are sent.
  const bundle: CachedBody = { type: JAVASCRIPT, encodings: { identity: encodedBody(files.bundle) } };
  const digest = `sha-256=:${files.sha256.toString('base64')}:`;
  return {
    '/agent/agent.js': ({ response }) => {
      response.setHeader('Repr-Digest', digest); // RFC 9530
      sendCached(response, bundle, 'no-cache');
    },
    '/agent/install.sh': (exchange) => {
      sendInstaller(files, app, exchange, countStranger).catch((error) => sendError(exchange, error));
    },
  };
}

async function sendInstaller(
  files: AgentFiles,
  app: ApiApp,
  exchange: ApiExchange,
  countStranger: (exchange: ApiExchange) => void,
): Promise<void> {
  countStranger(exchange);
  const script = await installScript(files, app, exchange.baseUrl);
  if (exchange.response.destroyed) return;
  sendCached(exchange.response, { type: SHELL, encodings: { identity: encodedBody(Buffer.from(script)) } }, 'no-cache');
}
