// An account with what the samples of the tables name, asked as clients of the original service ask.

import { leaveVisitor } from '../../accounts/sample-rows.ts';
import { authorityPem, issue } from '../../contract/rows/certificates.ts';
import { bound, nameRequest, openSession } from '../../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import type { Answer } from '../../support/gateway/http.ts';
import { type Body, type ClientName, clients, type Members } from './clients.ts';

export interface ClientWorld {
  gateway: TestGateway;
  account: Account;
  /** What `$name` stands for. */
  things: Record<string, string>;
  ask(client: ClientName, method: string, path: string, body?: Body): Promise<Answer>;
  /** Makes something. @throws when it is refused. @returns its id. */
  make(path: string, body?: object): Promise<string>;
  /** A sample, with what it names. */
  filled<T>(sample: T): Promise<T>;
  close(): Promise<void>;
}

/** What stands for the same in a whole sample. */
interface Own {
  number: number;
  fresh: Record<string, Promise<string> | undefined>;
}

/** @param own a gateway of the test's own, which the world closes; the shared one when left out. */
export async function makeClientWorld(own?: TestGateway): Promise<ClientWorld> {
  const gateway = own ?? (await sharedGateway());
  const { app } = gateway;
  const { sessions } = app;
  // Sessions are registered here without an agent: whatever they are told, they do.
  app.sessions = { command: async () => 'done' };
  const account = await gateway.newAccount();
  let count = 0;

  const ask: ClientWorld['ask'] = (client, method, path, body) => {
    const headers = { 'content-type': undefined, ...clients[client].headers(body !== undefined) };
    return account.call(method, path, body, { dialect: 'extended', headers });
  };
  const create = async (path: string, body: object = {}) => {
    const answer = await ask('go', 'POST', path, body as Members);
    if (answer.status !== 201) throw new Error(`POST ${path} ${JSON.stringify(body)}: ${answer.text}`);
    return answer.body;
  };
  const make: ClientWorld['make'] = async (path, body) => (await create(path, body)).id;
  const visitor = () => leaveVisitor(gateway, account, things.endpoint ?? '');

  const certificate = await issue({ names: ['*.clients.example.com'], subject: 'CN=Clients' });
  const [backend, ipPolicy, vault, credential] = await Promise.all([
    make('/backends/tunnel_group', { labels: { app: 'shop' } }),
    make('/ip_policies'),
    make('/vaults', { name: 'vault of the world' }),
    make('/credentials'),
    make('/reserved_domains', { domain: '*.clients.example.com' }),
  ]);
  const things: Record<string, string> = {
    ...{ backend, ipPolicy, vault, credential },
    otherBackend: await make('/backends/http_response'),
    otherIpPolicy: await make('/ip_policies'),
    bot: await make('/bot_users', { name: 'bot of the world' }),
    authorityPem: await authorityPem(),
    certificatePem: certificate.certificate_pem,
    privateKeyPem: certificate.private_key_pem,
    destination: await make('/event_destinations', { target: { datadog: { api_key: 'a-key' } } }),
  };
  const { certificatePem: certificate_pem, privateKeyPem: private_key_pem } = things;
  things.certificate = await make('/tls_certificates', { certificate_pem, private_key_pem });
  things.authority = await make('/certificate_authorities', { ca_pem: things.authorityPem });
  Object.assign(things, await goLive(gateway, { accountId: account.accountId, credentialId: credential }));
  const visitors = [await visitor(), await visitor()];
  things.appUser = visitors[0]?.appUser ?? '';
  things.appSession = visitors[1]?.appSession ?? '';

  /** Those that each object needs of its own. */
  const fresh: Record<string, () => Promise<string>> = {
    address: async () => (await create('/reserved_addrs')).addr,
  };
  const filledWith = async (sample: unknown, own: Own): Promise<unknown> => {
    if (typeof sample === 'string') return text(sample, own);
    if (Array.isArray(sample)) return Promise.all(sample.map((item) => filledWith(item, own)));
    if (typeof sample !== 'object' || sample === null) return sample;
    const members = Object.entries(sample).map(async ([name, value]) => [
      await text(name, own),
      await filledWith(value, own),
    ]);
    return Object.fromEntries(await Promise.all(members));
  };
  const text = async (sample: string, own: Own) => {
    const [, name = ''] = /^\$(\w+)$/.exec(sample) ?? [];
    if (name in fresh) {
      own.fresh[name] ??= fresh[name]?.();
      return own.fresh[name];
    }
    return sample.replaceAll('{n}', String(own.number)).replace(/\$(\w+)/g, (word, it: string) => things[it] ?? word);
  };
  return {
    ...{ gateway, account, things, ask, make },
    filled: async (sample) => (await filledWith(sample, { number: ++count, fresh: {} })) as typeof sample,
    async close() {
      app.sessions = sessions;
      await own?.close();
    },
  };
}

/** What an agent brings up. */
async function goLive(gateway: TestGateway, owner: { accountId: string; credentialId: string }) {
  const session = await openSession(gateway, owner);
  const request = nameRequest(session, 'app.clients.example.com', { proto: 'https', port: 443 });
  const { tunnelId: tunnel, endpointId: endpoint } = bound(await gateway.registrar.bind(request));
  return { session, tunnel, endpoint };
}
