// The SDK of the field, under a name of our own: the only file of the tests that says whose it is. Whatever a test opens
// with it ends with the test, as the SDK keeps what it has in the process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Config, type HttpListenerBuilder, type Listener, type Session, SessionBuilder } from '@ngrok/ngrok';
import { onTestFinished } from 'vitest';
import type { TestGateway } from '../gateway/gateway.ts';
import { root } from '../root.ts';

export type SdkSession = Session;
export type SdkListener = Listener;

/** What the codes of errors begin with that it recognises. */
export const SDK_PREFIX = 'ERR_NGROK_';

/** How long closing may take: a session that is away from its gateway does not end. Milliseconds. */
const CLOSE_MS = 2000;

type Target = Pick<TestGateway, 'ca'> & Pick<Partial<TestGateway>, 'agent'>;

/** @param setUp sets what a test wants on top of address, CA and authtoken. */
export async function sdkSession(
  target: Target,
  authtoken: string,
  setUp: (builder: SessionBuilder) => void = () => {},
): Promise<Session> {
  const { session, close } = await openSdkSession(target, authtoken, setUp);
  onTestFinished(close);
  return session;
}

/** The same for several tests: whoever opens it closes it. */
export async function openSdkSession(
  { agent = '', ca }: Target,
  authtoken: string,
  setUp: (builder: SessionBuilder) => void = () => {},
): Promise<{ session: Session; close(): Promise<void> }> {
  const builder = new SessionBuilder().serverAddr(agent).caCert(Buffer.from(ca)).authtoken(authtoken);
  setUp(builder);
  const session = await builder.connect();
  return {
    session,
    async close() {
      const deadline = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([session.close().catch(() => {}), deadline]);
    },
  };
}

/** A builder for a name on the HTTP listener: its own default is the HTTPS one. */
export function httpName(session: Session, name: string): HttpListenerBuilder {
  return session.httpEndpoint().scheme('http').domain(name).forwardsTo('a test');
}

/**
 * Opens listeners in a process of its own, which ends with the test, one after the other.
 * @param configs what `forward` is called with. @returns the process, and what came of each: a URL, or an error.
 */
export async function sdkProcess(configs: Config[]): Promise<{ child: ChildProcess; outcomes: string[] }> {
  const script = `
    import { forward } from '@ngrok/ngrok';
    for (const config of JSON.parse(process.argv[1]))
      console.log(await forward(config).then((listener) => listener.url(), (error) => 'failed: ' + error.message));
    setInterval(() => {}, 60_000); // The SDK alone does not keep a process alive.
  `;
  const args = ['--input-type=module', '--eval', script, JSON.stringify(configs)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const outcomes: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    outcomes.push(line);
    if (outcomes.length === configs.length) break;
  }
  return { child, outcomes };
}
