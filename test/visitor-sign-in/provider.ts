// A certified OpenID provider (npm's `oidc-provider`) on this machine, with its own pages for signing in, and a door before it by which
// a test changes what it answers.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

/** A request that the gateway or a browser has sent to the provider. */
export interface Asked {
  method: string;
  path: string;
  /** The value of its Authorization; '' without one. */
  authorization: string;
  body: string;
}

export interface TestProvider {
  issuer: string;
  /** What it was asked at a path, in order. */
  asked(path: string): Asked[];
  /** Answers in its place; true: it has answered. */
  intercept:
    | ((request: IncomingMessage, response: ServerResponse, body: string) => boolean | Promise<boolean>)
    | undefined;
  /** What it says of users, by their log-in. Others have the e-mail address `<login>@example.com`, verified. */
  users: Map<string, Record<string, unknown>>;
  /** Registers a redirect URI of its client, besides those that there are. */
  register(callback: string): void;
  /** Has other keys from now on. */
  rotateKeys(): Promise<void>;
  close(): Promise<void>;
}

export interface ProviderOptions {
  /** A redirect URI of its client. */
  callback?: string;
  /** How its client proves who it is; by HTTP Basic when left out. */
  authMethod?: 'client_secret_basic' | 'client_secret_post';
  /** What it signs ID tokens with; RS256 when left out. */
  alg?: 'RS256' | 'ES256';
  /** How long access tokens live; seconds. */
  accessSeconds?: number;
}

export const CLIENT = { client_id: 'shop', client_secret: 'a secret that only the test has' };

const newKey = (alg: string) => generateKeyPair(alg, { extractable: true });

/** That of every provider of this worker: making one takes as long as several log-ins. */
let firstKey: Promise<GenerateKeyPairResult> | undefined;

/** Starts one, with the client `CLIENT`. */
export async function startProvider({
  callback,
  authMethod = 'client_secret_basic',
  alg = 'RS256',
  accessSeconds = 3600,
}: ProviderOptions = {}): Promise<TestProvider> {
  const registered = new Set(callback === undefined ? [] : [callback]);
  const asked: Asked[] = [];
  const users: TestProvider['users'] = new Map();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url = '', headers } = request;
    asked.push({ method, path: url.replace(/\?.*/, ''), authorization: headers.authorization ?? '', body });
    if (await provider.intercept?.(request, response, body)) return;
    (request as unknown as { body: string }).body = body; // It was read already, which the provider expects of parsers.
    handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration = (): Configuration => ({
    clients: [
      {
        ...CLIENT,
        redirect_uris: [callback ?? 'https://none.example/'], // What counts is `registered`.
        token_endpoint_auth_method: authMethod,
        id_token_signed_response_alg: alg,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    clientAuthMethods: [authMethod, 'none'],
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    ttl: {
      AccessToken: accessSeconds,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: async () => ({
        sub: id,
        email: `${id}@example.com`,
        email_verified: true,
        name: `Name of ${id}`,
        ...users.get(id),
      }),
    }),
  });
  const withKey = async ({ privateKey }: GenerateKeyPairResult) => {
    const key = {
      ...(await exportJWK(privateKey)),
      use: 'sig',
      alg,
      kid: `key-${Date.now()}-${Math.random()}`,
    };
    const made = new Provider(issuer, { ...configuration(), jwks: { keys: [key] } });
    made.Client.prototype.redirectUriAllowed = (uri: string) => registered.has(uri);
    return made.callback();
  };
  firstKey ??= newKey('RS256');
  let handle = await withKey(await (alg === 'RS256' ? firstKey : newKey(alg)));
  const provider: TestProvider = {
    issuer,
    asked: (path) => asked.filter((one) => one.path === path),
    intercept: undefined,
    users,
    register: (uri) => void registered.add(uri),
    async rotateKeys() {
      handle = await withKey(await newKey(alg));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}
