// What the gateway opens: visitors, signs of life, and commands.

import {
  answer,
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

export interface IncomingDeps {
  options: Pick<ClientOptions, 'commands' | 'log'>;
  /** A visitor has come. @param rest what came behind the stream's type. */
  onVisitor(stream: MuxStream, rest: Buffer): void;
  /** The gateway has stopped one tunnel. */
  onStopTunnel(stop: StopTunnel): void;
}

/** Takes a stream that the gateway has opened. One of a type that we do not know is reset, and nothing else is. */
export function handleIncomingStream(stream: MuxStream, type: number, rest: Buffer, deps: IncomingDeps): void {
  const { commands, log } = deps.options;
  /** @param command its name in the log. @param handle returns the reason for a refusal, or null. */
  const reply = (command: string, handle: (fields: Fields, message: object) => string | null) => {
    const asObject = async (request: object) => {
      log('info', 'gateway command received', { command });
      try {
        const reason = handle(new Fields(request), request);
        return reason === null ? {} : { Error: reason };
      } catch (error) {
        log('error', 'gateway command failed', { command, error: String(error) });
        return { Error: error instanceof MessageError ? error.message : 'The agent failed to do this.' };
      }
    };
    answer(stream, rest, asObject, (text) => text);
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
