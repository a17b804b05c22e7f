// The streams that the gateway opens: visitors, heartbeats and commands.

import {
  answerCall,
  answerHeartbeat,
  ErrorCode,
  Fields,
  MessageError,
  type MuxStream,
  readStopTunnel,
  type StopTunnel,
  StreamType,
} from '@gateway/protocol';
import type { ClientOptions } from '../gateway-client.ts';

/** The receivers of incoming streams. */
export interface IncomingDeps {
  options: Pick<ClientOptions, 'commands' | 'log'>;
  /** Called for each visitor. @param rest the data behind the stream's type. */
  onVisitor(stream: MuxStream, rest: Buffer): void;
  /** Called when the gateway stops one tunnel. */
  onStopTunnel(stop: StopTunnel): void;
  /**
   * Called when the gateway asks the agent to have its tunnels in a session with another process of the gateway.
   * @returns null when they are bound there, otherwise why not.
   */
  onMove(): Promise<string | null>;
}

/** Handles a stream that the gateway has opened. A stream of an unknown type is reset; the session stays open. */
export function handleIncomingStream(stream: MuxStream, type: number, rest: Buffer, deps: IncomingDeps): void {
  const { commands, log } = deps.options;
  /** @param command its name in the log. @param handle returns the reason for a refusal, or null. */
  const reply = (
    command: string,
    handle: (fields: Fields, message: object) => string | null | Promise<string | null>,
  ) => {
    const respond = async (request: object) => {
      log('info', 'gateway command received', { command });
      try {
        const reason = await handle(new Fields(request), request);
        return reason === null ? {} : { Error: reason };
      } catch (error) {
        log('error', 'gateway command failed', { command, error: String(error) });
        return { Error: error instanceof MessageError ? error.message : 'The agent failed to do this.' };
      }
    };
    answerCall(stream, rest, respond, (text) => text);
  };
  switch (type) {
    case StreamType.PROXY:
      deps.onVisitor(stream, rest);
      break;
    case StreamType.HEARTBEAT:
      answerHeartbeat(stream, rest);
      break;
    case StreamType.STOP:
      reply('stop', () => commands.stop());
      break;
    case StreamType.RESTART:
      reply('restart', () => commands.restart());
      break;
    case StreamType.UPDATE:
      reply('update', (fields) => commands.update(fields.text('Version'), fields.flag('PermitMajorVersion')));
      break;
    case StreamType.MOVE:
      reply('move', () => deps.onMove());
      break;
    case StreamType.STOP_TUNNEL:
      reply('stop tunnel', (_, message) => {
        deps.onStopTunnel(readStopTunnel(message));
        return null;
      });
      break;
    default:
      stream.reset(ErrorCode.REFUSED);
  }
}
