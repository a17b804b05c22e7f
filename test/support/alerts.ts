// Who is told of alerts in tests: a mail server and a receiver of webhooks; and an account whose devices come and go.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';
import { bound, nameRequest, newCredential, openSession, type TestCredential } from './agents/live.ts';
import { answerOf } from './gateway/answer.ts';
import type { Account, TestGateway } from './gateway/gateway.ts';

export interface Mail {
  to: string[];
  /** As it was sent: header fields, an empty line, the text. */
  source: string;
}

export interface MailServer {
  /** With the user name and the password that it wants. */
  url: string;
  mails: Mail[];
  close(): void;
}

/** A mail server that takes whatever is sent with its user name and password, but for recipients whose names begin with `no`. */
export async function startMailServer(): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      username === 'gateway' && password === 'p@ss' ? done(null, { user: username }) : done(new Error('no such user')),
    onRcptTo: ({ address }, _, done) => done(address.startsWith('no') ? new Error('no such mailbox') : null),
    onData(stream, { envelope }, done) {
      void text(stream).then((source) => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://gateway:p%40ss@127.0.0.1:${port}`, mails, close: () => void server.close() };
}

export interface Post {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  body: any;
}

export interface Receiver {
  url: string;
  posts: Post[];
  /** The status that is answered from now on. */
  status: number;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    receiver.posts.push({ headers: request.headers, raw, body: JSON.parse(raw.toString()) });
    response.writeHead(receiver.status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
    posts: [],
    status: 204,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}

/** Devices of an account: each has a name of its own. */
export class Fleet {
  readonly #gateway: TestGateway;
  readonly #credential: TestCredential;
  readonly #names: string;

  constructor(gateway: TestGateway, credential: TestCredential, names: string) {
    this.#gateway = gateway;
    this.#credential = credential;
    this.#names = names;
  }

  get credentialId(): string {
    return this.#credential.credentialId;
  }

  /** Has an agent serve the devices with these numbers. @returns what makes it vanish. */
  async serve(from: number, to: number): Promise<() => Promise<void>> {
    const session = await openSession(this.#gateway, this.#credential);
    for (let number = from; number < to; number++)
      bound(await this.#gateway.registrar.bind(nameRequest(session, `${this.#names}-${number}.tunnel.localhost`)));
    return () => this.#gateway.registrar.sessionClosed(session, 0, 'no heartbeat');
  }
}

let fleets = 0;

export async function newFleet(gateway: TestGateway, account: Account): Promise<Fleet> {
  return new Fleet(gateway, await newCredential(account), `fleet${++fleets}`);
}

/** Runs a mutation, and expects that it succeeds. @returns what its payload is about, with what that shows once. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export async function mutate({ graphql }: Account, mutation: string, variables: object = {}): Promise<any> {
  const { body } = await graphql(`mutation ${mutation}`, variables);
  expect(body.errors).toBeUndefined();
  return answerOf('mutation', body.data);
}

const create = (kind: string, shown: string) => (account: Account, input: object) =>
  mutate(account, `($input: Create${kind}Input!) { create${kind}(input: $input) { ${shown} } }`, { input });

export const createChannel = create('AlertChannel', 'alertChannel { id problem } signingSecret');
export const createRule = create('AlertRule', 'alertRule { id }');
export const createSilence = create('AlertSilence', 'alertSilence { id }');

const SHOWN = `id name state since firedAt resolvedAt subjectCount subjects { objectId name detail } value remark note acknowledgedBy
  notifications { nodes { id kind sentAt nextAttemptAt failures error channel { id } } }`;

// biome-ignore lint/suspicious/noExplicitAny: likewise.
const shown = ({ notifications, ...alert }: any) => ({ ...alert, notifications: notifications.nodes });

/** The alerts of an account that are not resolved. */
// biome-ignore lint/suspicious/noExplicitAny: likewise.
export async function openAlerts({ graphql }: Account): Promise<any[]> {
  const { body } = await graphql(`{ openAlerts { ${SHOWN} } }`);
  expect(body.errors).toBeUndefined();
  return body.data.openAlerts.map(shown);
}

// biome-ignore lint/suspicious/noExplicitAny: likewise.
export async function alertOf({ graphql }: Account, id: string): Promise<any> {
  const { body } = await graphql(`query ($id: ID!) { alert(id: $id) { ${SHOWN} } }`, { id });
  expect(body.errors).toBeUndefined();
  return shown(body.data.alert);
}
