// A session of an agent without a service: visitors get a text.

import { once } from 'node:events';
import { connect } from 'node:tls';
import {
  answerCall,
  answerHeartbeat,
  callPeer,
  MuxSession,
  type MuxStream,
  noopStreamEvents,
  readStreamType,
  StreamType,
} from '../../../src/protocol/index.ts';
import type { Target } from './attack.ts';

const CALL_MS = 60_000;

/** @param told what each visitor gets; left out, nobody is to come. */
export async function openSession({ agent, ca }: Target, authtoken: string, told = ''): Promise<MuxSession> {
  const [host, port] = agent.split(':');
  const socket = connect({ host, port: Number(port), ca });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  const mux = new MuxSession(
    socket,
    {
      onStream: (stream) =>
        readStreamType(stream, (type, rest) => {
          if (type === StreamType.HEARTBEAT) answerHeartbeat(stream, rest);
          else if (type === StreamType.PROXY) tell(stream, told);
          else
            answerCall(
              stream,
              rest,
              async () => ({}),
              (text) => text,
            );
        }),
      onClose: () => {},
    },
    { role: 'client', peerStreamsMax: 100 },
  );
  const auth = { Version: ['3', '2'], ClientId: '', Extra: { AuthToken: authtoken } };
  await callPeer(mux, StreamType.AUTH, auth, CALL_MS);
  return mux;
}

/** Answers one request, whatever it is. */
function tell(stream: MuxStream, text: string): void {
  stream.events = {
    ...noopStreamEvents,
    onData: (chunk) => stream.consumed(chunk.length),
    onEnd: () => stream.end(),
  };
  stream.write(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`));
}
