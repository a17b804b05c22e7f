// Agents with several threads: each thread takes the id of its stream, and writes its first frame when it gets to it. So streams come in
// any order, and a bind may come before the authentication. Nothing is lost of that, in whatever order it comes.

import { expect, test } from 'vitest';
import { callPeer, type MuxSession, type StreamEvents, StreamType } from '../../src/protocol/index.ts';
import { seeded } from '../soak/hostile/agent-random.ts';
import { type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { isLong, shortened } from '../support/shortened.ts';
import { rawAgents } from './raw-agents.ts';

const lab = rawAgents('threaded');
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_128);
const CALL_MS = 60_000;

/** Calls whose streams have their ids in the order in which they are made; `go` writes their first frames in another one. */
function threads({ mux }: RawAgent, random: () => number) {
  const starts: (() => void)[] = [];
  const held = {
    open(events: StreamEvents) {
      const stream = mux.open(events);
      const write = stream.write.bind(stream);
      stream.write = (first) => {
        starts.push(() => void write(first));
        stream.write = write;
        return true;
      };
      return stream;
    },
  } as unknown as MuxSession;
  return {
    call: (type: number, request: object): Promise<Reply> => callPeer(held, type, request, CALL_MS),
    go() {
      for (let left = starts.length; left > 0; left--) {
        const [start] = starts.splice(Math.floor(random() * left), 1);
        start?.();
      }
    },
  };
}

const bindOf = (name: string) => ({ Id: '', Proto: 'http', Opts: { URL: 'http://', Hostname: name }, Extra: {} });
const authOf = () => ({ Version: ['3', '2'], ClientId: '', Extra: { AuthToken: lab.credential.authtoken } });

test('200 endpoints that a session asks for at once are all there, in whatever order their streams come', {
  timeout: 120_000,
}, async () => {
  const random = seeded(SEED);
  for (const round of shortened([1, 2, 3, 4, 5])) {
    const agent = await lab.agentOf();
    const { call, go } = threads(agent, random);
    const names = Array.from({ length: 200 }, () => lab.newName());
    const bound = names.map((name) => call(StreamType.BIND, bindOf(name)));
    go();
    const answers = await Promise.all(bound);
    expect(
      answers.filter(({ Error: text }) => text !== ''),
      `round ${round}, seed ${SEED}`,
    ).toEqual([]);
    expect(answers.map(({ Opts }) => Opts.Hostname)).toEqual(names);
    expect(await Promise.all([0, 99, 199].map((n) => lab.get(names[n] as string)))).toEqual([200, 200, 200]);
    agent.close();
  }
});

test('an agent that begins with binds, its authentication and a heartbeat all at once gets what it asks for', {
  timeout: 300_000,
}, async () => {
  const random = seeded(SEED);
  const connect = async () => {
    const agent = await rawAgent(lab.gateway);
    const { call, go } = threads(agent, random);
    const first = call(StreamType.SERVER_INFO, {});
    const bind = call(StreamType.BIND, bindOf(lab.newName()));
    const auth = call(StreamType.AUTH, authOf());
    const second = call(StreamType.BIND, bindOf(lab.newName()));
    go();
    const answers = await Promise.all([auth, bind, second]);
    await first;
    agent.close();
    await agent.closed;
    return answers.map(({ Error: text }) => text);
  };
  // Ten at once: as many as begin with a rush, and few enough for the limits of one address.
  for (let left = isLong ? 500 : 30; left > 0; left -= 10)
    expect(await Promise.all(Array.from({ length: 10 }, connect)), `seed ${SEED}`).toEqual(
      Array.from({ length: 10 }, () => ['', '', '']),
    );
});

test('thirty binds before the authentication wait for it', async () => {
  const agent = await rawAgent(lab.gateway);
  const { call, go } = threads(agent, seeded(SEED));
  const bound = Array.from({ length: 30 }, () => call(StreamType.BIND, bindOf(lab.newName())));
  go();
  expect((await agent.auth(lab.credential.authtoken)).Error).toBe('');
  expect((await Promise.all(bound)).map(({ Error: text }) => text)).toEqual(bound.map(() => ''));
});
