// An agent whose services answer nonsense, in both protocols, and visitors of both who ask for it.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  answerHeartbeat,
  callPeer,
  MuxSession,
  noopStreamEvents,
  readProxyHeader,
  readStreamType,
  StreamType,
} from '../../../../src/protocol/index.ts';
import { relay } from '../../../../src/protocol/relay.ts';
import { type Nonsense, nonsenseOf, randomOf } from '../../../edge/http1/random-responses.ts';
import { serveHttp1, serveHttp2 } from '../../../edge/http1/response-upstreams.ts';
import { visitHttp1, visitHttp2 } from '../answer-visits.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const EACH_MS = 250;
const CALL_MS = 15_000;

export const attack: Attack = {
  name: 'E19 nonsense for answers',
  async prepare(target) {
    const seed = Date.now() % 2 ** 31;
    const random = randomOf(seed);
    const next = () => nonsenseOf(random);
    const counts: Counts = { seed, answered: 0, refused: 0, broken: 0, late: 0 };
    const undo: (() => void)[] = [];
    const agent = await agentOf(target, undo);
    for (const upstream of ['http1', 'http2'] as const) {
      const name = `nonsense-${upstream}-${seed}.${target.baseDomain}`;
      const port = await serve(upstream === 'http1' ? serveHttp1 : serveHttp2, next, undo);
      await agent.bind(name, upstream, port);
      agent.names.push(name);
    }
    return async (_target, signal) => {
      while (!signal.aborted) {
        const visits = agent.names.flatMap((name) => [visitHttp1(target, name), visitHttp2(target, name)]);
        for (const status of await Promise.all(visits)) count(counts, status);
        await new Promise((resolve) => setTimeout(resolve, EACH_MS));
      }
      for (const step of undo.reverse()) step();
      return counts;
    };
  },
};

function count(counts: Counts, status: number | 'late' | undefined): void {
  const kind = status === 'late' ? 'late' : !status ? 'broken' : status === 502 ? 'refused' : 'answered';
  counts[kind] = (counts[kind] ?? 0) + 1;
}

async function serve(service: typeof serveHttp1, next: () => Nonsense, undo: (() => void)[]): Promise<number> {
  const server = createServer((socket) => service(socket, next));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  undo.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function agentOf({ agent, ca, tenant }: Target, undo: (() => void)[]) {
  const [host, port] = agent.split(':');
  const socket = connectTls({ host, port: Number(port), ca });
  undo.push(() => void socket.destroy());
  await once(
    socket.on('error', () => {}),
    'secureConnect',
  );
  const ports = new Map<string, number>();
  const onStream = (stream: Parameters<typeof readStreamType>[0]) =>
    readStreamType(stream, (type, rest) => {
      if (type === StreamType.HEARTBEAT) return answerHeartbeat(stream, rest);
      let head = Buffer.alloc(0);
      const take = (chunk: Buffer) => {
        stream.consumed(chunk.length);
        head = Buffer.concat([head, chunk]);
        const found = readProxyHeader(head);
        if (!found) return;
        const to = connect(ports.get(found.header.tunnelId) ?? 1, '127.0.0.1');
        if (found.rest.length > 0) to.write(found.rest);
        relay(stream, to);
      };
      stream.events = { ...noopStreamEvents, onData: take };
      take(rest);
    });
  const mux = new MuxSession(socket, { onStream, onClose() {} }, { role: 'client', peerStreamsMax: 1000 });
  // biome-ignore lint/suspicious/noExplicitAny: as it came.
  const ask = async (type: number, request: object): Promise<any> => {
    const reply = (await callPeer(mux, type, request, CALL_MS)) as { Error?: string };
    if (reply.Error) throw new Error(reply.Error);
    return reply;
  };
  await ask(StreamType.AUTH, { Version: ['3', '2'], ClientId: '', Extra: { AuthToken: tenant.authtoken } });
  return {
    names: [] as string[],
    async bind(Hostname: string, ForwardsProto: 'http1' | 'http2', to: number): Promise<void> {
      const opts = { Id: '', Proto: 'https', Opts: { Hostname }, ForwardsProto, Extra: {} };
      ports.set((await ask(StreamType.BIND, opts)).Id, to);
    },
  };
}
