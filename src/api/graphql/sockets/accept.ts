// Where requests for WebSockets come in. All that speaks with them is loaded when the first one comes.

import { sendError } from '../../http/responses.ts';
import type { OpenWebSocket, SocketDeps } from './socket-deps.ts';

/** Answers requests for WebSockets with GraphQL, in the protocol of graphql-ws. */
export function graphqlSockets(deps: SocketDeps): OpenWebSocket {
  let loading: Promise<OpenWebSocket> | undefined;
  return (exchange, head) => {
    loading ??= import('./socket-server.ts').then(({ createSocketServer }) => createSocketServer(deps));
    loading.then(
      (open) => open(exchange, head),
      (error) => {
        loading = undefined;
        sendError(exchange, error);
      },
    );
  };
}
