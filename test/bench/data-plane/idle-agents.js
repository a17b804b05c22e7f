// Many agents in one process, with nothing to do: each a TLS session of its own, one tunnel, and signs of life both ways.
// They are made of the gateway's own protocol room, or of the SDK.

import { once } from 'node:events';
import { connect } from 'node:tls';

/**
 * @typedef {object} Job
 * @property {'own' | 'sdk'} kind
 * @property {string} dist the compiled gateway, which has the protocol.
 * @property {string} address of the gateway, `host:port`.
 * @property {string} ca PEM
 * @property {string} authtoken
 */

const HEARTBEAT = { interval: 10_000, tolerance: 15_000 };
const CALL_MS = 20_000;
/** So many are on their way at a time. */
const TOGETHER = 8;

/** How many have their session. */
let alive = 0;
const job = /** @type {Job} */ (JSON.parse(process.env.IDLE_JOB ?? '{}'));
const startOne = job.kind === 'sdk' ? await sdkAgents(job) : await ownAgents(job);

process.on('message', async (/** @type {number} */ count) => {
  try {
    let started = 0;
    const lane = async () => {
      while (started < count) {
        started++;
        await startOne();
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, lane));
    process.send?.({ alive });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.stdout.write('ready\n');

/** @param {Job} job @returns {Promise<() => Promise<unknown>>} */
async function sdkAgents({ address, ca, authtoken }) {
  const { SessionBuilder } = await import('@ngrok/ngrok');
  const lost = () => {
    alive--;
    return false;
  };
  /** An object that is collected closes its session. @type {unknown[]} */
  const kept = [];
  return async () => {
    const builder = new SessionBuilder().authtoken(authtoken).serverAddr(address).caCert(Buffer.from(ca));
    const session = await builder.handleDisconnection(lost).connect();
    alive++;
    kept.push(session, await session.httpEndpoint().scheme('HTTP').listen(false));
  };
}

/** @param {Job} job @returns {Promise<() => Promise<unknown>>} */
async function ownAgents({ dist, address, ca, authtoken }) {
  /** @type {typeof import('../../../src/protocol/index.ts')} */
  const protocol = await import(`${dist}/protocol/index.js`);
  const { MuxSession, StreamType, callPeer } = protocol;
  const [host = '', port] = address.split(/:(?=\d+$)/);
  const auth = protocol.writeAuth(
    {
      clientId: '',
      cookie: '',
      authtoken,
      agentVersion: '0',
      userAgent: 'idle-agents/0',
      os: process.platform,
      arch: process.arch,
      metadata: '',
      stopUnsupported: 'no',
      restartUnsupported: 'no',
      updateUnsupported: 'no',
      streamWindow: protocol.STREAM_WINDOW_MAX,
      legNumber: 0,
    },
    HEARTBEAT,
  );
  const options = { hostname: '', domain: '', subdomain: '' };
  const bind = protocol.writeBind({ id: '', token: '', proto: 'http', forwardsTo: 'nothing', metadata: '', options });

  return async () => {
    const socket = connect({ host, port: Number(port), ca });
    await once(socket, 'secureConnect');
    const session = new MuxSession(
      socket,
      {
        onStream: (stream) =>
          protocol.readStreamType(stream, (type, rest) => {
            if (type === StreamType.HEARTBEAT) protocol.answerHeartbeat(stream, rest);
            else stream.reset();
          }),
        onClose: (_, message) => {
          alive--;
          process.stderr.write(`lost a session: ${message}\n`);
        },
      },
      { role: 'client', peerStreamsMax: 16 },
    );
    alive++;
    const welcome = protocol.readAuthResponse(await callPeer(session, StreamType.AUTH, auth, CALL_MS));
    if (welcome.error) throw new Error(`an idle agent was refused: ${welcome.error}`);
    protocol.startHeartbeat(session, HEARTBEAT);
    const bound = protocol.readBindResponse(await callPeer(session, StreamType.BIND, bind, CALL_MS));
    if (bound.error) throw new Error(`the bind of an idle agent was refused: ${bound.error}`);
  };
}
