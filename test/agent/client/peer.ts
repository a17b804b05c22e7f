// A gateway of a few lines, for what a real one never does: silence, answers that are none, orders of events on demand.

import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import {
  type Auth,
  answerCall,
  answerHeartbeat,
  type Bind,
  callPeer,
  type ErrorCode,
  type LabelBind,
  MuxSession,
  type MuxStream,
  noopStreamEvents,
  openTypedStream,
  readAuth,
  readBind,
  readLabelBind,
  readStreamType,
  type StreamEvents,
  StreamType,
  writeAuthResponse,
  writeBindResponse,
  writeLabelBindResponse,
  writeProxyHeader,
  writeServerInfo,
  writeStopTunnel,
} from '../../../src/protocol/index.ts';

/** What the gateway says; null is silence. */
export interface Script {
  /** Which node it says it is; '' for a gateway that does not say. */
  node: string;
  takesMoves: boolean;
  auth(auth: Auth): object | null | Promise<object | null>;
  bind(bind: Bind, session: PeerSession): object | null | Promise<object | null>;
  unbind(id: string): object | null;
  answersHeartbeats(session: PeerSession): boolean;
}

export interface PeerSession {
  mux: MuxSession;
  socket: TLSSocket;
  /** Of its authentication. */
  auth: Auth;
  /** What was asked, in order. */
  binds: Bind[];
  labelBinds: LabelBind[];
  unbound: string[];
  /** The agent's questions for a sign of life, so far. */
  beats: number;
  closed: Promise<{ code: ErrorCode; message: string }>;
  /** Brings a visitor. @param first rides in the same frame as the header. */
  visit(tunnelId: string, events?: StreamEvents, first?: Buffer): MuxStream;
  stopTunnel(id: string, errorCode: string, message: string): void;
  command(type: number, request: object): Promise<object>;
}

export interface Peer {
  host: string;
  port: number;
  /** Its certificate, which is its own authority. */
  ca: string;
  script: Script;
  /** Those whose authentication was answered, in order. */
  sessions: PeerSession[];
  /** The next one, or one that nobody has waited for yet. */
  session(): Promise<PeerSession>;
  /** How many connections there were. */
  connections: number;
  close(): Promise<void>;
}

const DESCRIPTION = { version: 'test', sessionId: 'ts_1', accountName: '', planName: '', banner: '' };

/** As a gateway answers that has accepted. */
export const accepted = (clientId = 'client-1', cookie = 'cookie-1', streamWindow = 0, node = '') =>
  writeAuthResponse({ clientId, cookie, region: '', streamWindow, node, connectAddresses: [] }, DESCRIPTION);

let made = 0;
/** As a gateway answers that serves what was asked for; ids and names count up. */
export function bound(bind: Bind): object {
  const { Domain = '', Addr = '' } = bind.options as { Domain?: string; Addr?: string };
  const nth = ++made;
  const address = bind.proto === 'tcp' ? Addr || `t.test:${20_000 + nth}` : `${Domain || `app${nth}.t.test`}:8080`;
  const id = bind.id || `tn_${nth}`;
  return writeBindResponse(
    { id, url: `${bind.proto}://${address}`, token: `token of ${id}` },
    bind.proto,
    bind.options,
  );
}

export const refused = (number: number, text: string) => ({ Error: `${text}\r\n\r\nERR_GATEWAY_${number}\r\n` });

/** Listens on a free port of 127.0.0.1. @param identity its certificate; one of its own unless given. */
export async function startPeer(identity?: { cert: string; key: string }): Promise<Peer> {
  const { cert, key } = identity ?? (await certificate('localhost', '127.0.0.1'));
  const server = createServer({ cert, key });
  const ready: PeerSession[] = [];
  const waiting: ((session: PeerSession) => void)[] = [];
  const sockets = new Set<Socket>();
  server.on('tlsClientError', () => {});
  server.on('connection', (socket: Socket) => {
    peer.connections++;
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  server.on('secureConnection', (socket) =>
    serve(socket, peer.script, (session) => {
      peer.sessions.push(session);
      const next = waiting.shift();
      if (next) next(session);
      else ready.push(session);
    }),
  );
  const peer: Peer = {
    host: '127.0.0.1',
    port: await listen(server),
    ca: cert,
    script: {
      node: '',
      takesMoves: true,
      auth: (auth) => accepted(auth.clientId || undefined, undefined, 0, peer.script.node),
      bind,
      unbind: () => ({ Error: '', Extra: {} }),
      answersHeartbeats: () => true,
    },
    sessions: [],
    session: () =>
      new Promise((resolve) => (ready.length > 0 ? resolve(ready.shift() as never) : waiting.push(resolve))),
    connections: 0,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return peer;
}

const bind = (request: Bind) => bound(request);

function serve(socket: TLSSocket, script: Script, onSession: (session: PeerSession) => void): void {
  let onClose: (reason: { code: ErrorCode; message: string }) => void;
  const closed = new Promise<{ code: ErrorCode; message: string }>((resolve) => {
    onClose = resolve;
  });
  const onStream = (stream: MuxStream) =>
    readStreamType(stream, (type, rest) => {
      if (type === StreamType.HEARTBEAT) {
        session.beats++;
        stream.events = noopStreamEvents;
        if (script.answersHeartbeats(session)) answerHeartbeat(stream, rest);
        return;
      }
      const silent = new Promise<object>(() => {});
      answerCall(
        stream,
        rest,
        async (request) => {
          if (type === StreamType.AUTH) {
            session.auth = readAuth(request);
            const reply = await script.auth(session.auth);
            if (reply && !('Error' in reply && reply.Error)) setImmediate(onSession, session);
            return reply ?? silent;
          }
          if (type === StreamType.BIND) {
            const asked = readBind(request);
            session.binds.push(asked);
            return (await script.bind(asked, session)) ?? silent;
          }
          if (type === StreamType.START_TUNNEL_WITH_LABEL) {
            session.labelBinds.push(readLabelBind(request));
            return writeLabelBindResponse({ id: 'tn_labels', token: 'token of labels' });
          }
          if (type === StreamType.SERVER_INFO)
            return writeServerInfo({ region: '', node: script.node, takesMoves: script.takesMoves });
          const { Id } = request as { Id: string };
          session.unbound.push(Id);
          return script.unbind(Id) ?? silent;
        },
        (text) => text,
      );
    });
  const mux = new MuxSession(
    socket,
    { onStream, onClose: (code, message) => onClose({ code, message }) },
    { role: 'server', peerStreamsMax: 100 },
  );
  const session: PeerSession = {
    mux,
    socket,
    auth: {} as Auth,
    binds: [],
    labelBinds: [],
    unbound: [],
    beats: 0,
    closed,
    visit(tunnelId, events = noopStreamEvents, first = Buffer.alloc(0)) {
      const header = { tunnelId, clientAddress: '192.0.2.1:4711', proto: 'tcp', edgeType: '1', passthrough: false };
      return openTypedStream(mux, StreamType.PROXY, Buffer.concat([writeProxyHeader(header), first]), events);
    },
    stopTunnel(id, errorCode, message) {
      const told = writeStopTunnel({ id, errorCode, message });
      openTypedStream(mux, StreamType.STOP_TUNNEL, Buffer.from(JSON.stringify(told))).end();
    },
    command: (type, request) => callPeer(mux, type, request, 2000),
  };
}

export async function listen(server: { listen(port: number, host: string): unknown; address(): unknown }) {
  server.listen(0, '127.0.0.1');
  await once(server as never, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A listener of which every connection is handed over. */
export async function startServer(onConnection: (socket: Socket) => void) {
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    onConnection(socket.on('error', () => {})); // A test says what it expects of one.
  });
  return { port: await listen(server), server };
}

/** A certificate that is its own authority. */
export async function certificate(name: string, ip: string): Promise<{ cert: string; key: string }> {
  x509.cryptoProvider.set(webcrypto as never);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=peer',
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: name },
        { type: 'ip', value: ip },
      ]),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { cert: made.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}
