import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { coresOfQuota, usableCores } from '../../src/config/usable-cores.ts';

describe('a mistake in the environment is reported by the name of its variable:', () => {
  const key = Buffer.alloc(32).toString('base64');
  test.each([
    ['API_PORT', '70000'],
    ['API_PORT', '-1'],
    ['ADMIN_PORT', 'http'],
    ['ADMIN_PORT', '80.5'],
    ['PUBLIC_API_URL', 'ftp://example.com'],
    ['PUBLIC_API_URL', 'example.com'],
    ['BASE_DOMAIN', 'no spaces.example'],
    ['BASE_DOMAIN', 'localhost'],
    ['CNAME_DOMAIN', '-x.example'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_DIRECT_URL', 'mysql://localhost/x'],
    ['DATABASE_POOL', '0'],
    ['BUS_URL', 'amqp://localhost'],
    ['LIMITS_URL', 'nats://localhost'],
    ['SERVER_KEY', 'short'],
    ['SERVER_KEY', key.slice(4)],
    ['SERVER_KEY_PREVIOUS', 'not base64!'],
    ['INITIAL_API_KEY', 'too-short'],
    ['INITIAL_API_KEY', 'with blanks in the middle'],
    ['INITIAL_API_KEY', 'x'.repeat(257)],
    ['RATE_LIMIT', '0'],
    ['EVENT_ENDPOINTS', 'kinesis'],
    ['EVENT_ENDPOINTS', 's3=https://example.com'],
    ['EVENT_ENDPOINTS', 'kinesis=ftp://example.com'],
    ['EVENT_WEBHOOK_HOSTS', 'https://example.com'],
    ['EVENT_WEBHOOK_HOSTS', '10.0.0.0/33'],
    ['EVENT_BACKLOG_MB', '0'],
    ['NODE_LEASE_MS', '1'],
    ['DRAIN_MS', '-5'],
    ['AGENT_PORT', '70000'],
    ['HTTP_PORT', 'x'],
    ['HTTPS_PORT', '-1'],
    ['TCP_PORTS', '20000-'],
    ['TCP_PORTS', '20999-20000'],
    ['TCP_PORTS', '0-10'],
    ['TCP_PORTS', '1-70000'],
    ['PUBLIC_HTTP_PORT', '70000'],
    ['HEARTBEAT_INTERVAL_MS', '0'],
    ['UPSTREAM_TIMEOUT_MS', 'soon'],
    ['MAX_VISITORS', '0'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['PROXY_PROTOCOL', 'http, ftp'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
  ])('%s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value }, '/')).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value }, '/')).toThrow(new RegExp(`^${name} .`, 'm'));
  });

  test.each([
    ['BUS_URL', 'nats://localhost'],
    ['DATABASE_DIRECT_URL', 'postgresql://localhost/x'],
  ])('%s, which is for several gateways, with the embedded database', (name, value) => {
    expect(() => readConfig({ [name]: value }, '/')).toThrow(`DATABASE_URL must be set, too: ${name}`);
    expect(() => readConfig({ [name]: value, DATABASE_URL: 'postgresql://localhost/x' }, '/')).not.toThrow();
  });

  test('LIMITS_URL without links to other gateways', () => {
    const env = { LIMITS_URL: 'redis://localhost', DATABASE_URL: 'postgresql://localhost/x' };
    expect(() => readConfig(env, '/')).toThrow('NODE_ADDR must be set, too: LIMITS_URL');
    expect(readConfig({ ...env, NODE_ADDR: '10.0.0.1' }, '/').nodeLink?.limitsUrl).toBe(env.LIMITS_URL);
  });

  test('all of them at once, each on a line of its own', () => {
    const env = { API_PORT: 'x', LOG_LEVEL: 'loud', SERVER_KEY: 'short', DATABASE_URL: 'mysql://x/y' };
    const lines = (() => {
      try {
        readConfig(env, '/');
        return [];
      } catch (error) {
        return (error as Error).message.split('\n');
      }
    })();
    expect([...new Set(lines.map((line) => line.split(' ')[0]))].sort()).toEqual(Object.keys(env).sort());
  });

  test.each([
    ['API_TLS_CERT', 'API_TLS_KEY'],
    ['API_TLS_KEY', 'API_TLS_CERT'],
  ])('%s without %s, with all the others', (given, missing) => {
    expect(() => readConfig({ [given]: '/etc/gateway/file', API_PORT: 'x' }, '/')).toThrow(
      new RegExp(`^API_PORT .*\\n${missing} must be set, too: API_TLS_CERT and API_TLS_KEY go together$`),
    );
  });

  test('PROXY_PROTOCOL without anybody who may speak it', () => {
    const explained = /^TRUSTED_PROXIES must be set, too: PROXY_PROTOCOL is for connections that come from there$/m;
    for (const proxies of [{}, { TRUSTED_PROXIES: '' }, { TRUSTED_PROXIES: ' , ' }])
      expect(() => readConfig({ PROXY_PROTOCOL: 'http', ...proxies }, '/')).toThrow(explained);
  });

  test('and a secret is not repeated in the text', () => {
    const env = { SERVER_KEY: 'c2VjcmV0LXNlcnZlci1rZXk=', INITIAL_API_KEY: 'a secret with blanks' };
    expect(() => readConfig(env, '/')).toThrow(expect.not.stringMatching(/c2VjcmV0|a secret/) as never);
  });
});

test('without any variable, everything listens on the loopback address with the documented ports', () => {
  expect(readConfig({}, '/srv/gateway')).toMatchObject({
    host: '127.0.0.1',
    apiPort: 4000,
    adminPort: 4001,
    baseDomain: 'tunnel.localhost',
    agentPort: 4443,
    httpPort: 8080,
    httpsPort: 8443,
    tcpPorts: { first: 20_000, last: 20_999 },
    cnameDomain: 'cname.tunnel.localhost',
    region: '',
    dataDir: '/srv/gateway/.data',
    databaseUrl: undefined,
    corsOrigins: [],
  });
});

test('a variable that is set to nothing counts as not set', () => {
  const empty = Object.fromEntries(
    ['API_PORT', 'DATABASE_URL', 'SERVER_KEY', 'LOG_LEVEL', 'HOST'].map((name) => [name, '']),
  );
  expect(readConfig(empty, '/')).toEqual(readConfig({}, '/'));
});

test('the certificate of the API is looked for beside the data', () => {
  expect(readConfig({}, '/srv').apiTls).toBeUndefined();
  expect(readConfig({ API_TLS_CERT: 'api.crt', API_TLS_KEY: '/etc/api.key' }, '/srv').apiTls).toEqual({
    certFile: '/srv/api.crt',
    keyFile: '/etc/api.key',
  });
});

test('an absolute data directory stays where it is', () => {
  expect(readConfig({ DATA_DIR: '/var/lib/gateway' }, '/srv').dataDir).toBe('/var/lib/gateway');
});

test('proxies, and the listeners that they stand in front of', () => {
  const env = { TRUSTED_PROXIES: '10.0.0.2, 2001:db8::/48', PROXY_PROTOCOL: ' http,tcp , agent,' };
  expect(readConfig(env, '/')).toMatchObject({
    trustedProxies: ['10.0.0.2', '2001:db8::/48'],
    proxyProtocol: ['http', 'tcp', 'agent'],
  });
  expect(readConfig({}, '/')).toMatchObject({ trustedProxies: [], proxyProtocol: [] });
});

test.each([
  ['max 100000', Number.POSITIVE_INFINITY],
  ['150000 100000', 1.5],
  ['400000 100000\n', 4],
  ['', Number.POSITIVE_INFINITY],
  ['nonsense', Number.POSITIVE_INFINITY],
])('the quota %j of a container is %d cores', (text, cores) => {
  expect(coresOfQuota(text)).toBe(cores);
});

test.each([
  ['1', 1],
  ['3', 3],
  ['auto', usableCores()],
])('WORKERS=%s are %d workers', (text, workers) => {
  expect(readConfig({ WORKERS: text }, '/').workers).toBe(workers);
});

test('with workers, a DATA_DIR that is too long for unix sockets is refused with its limit', () => {
  const dataDir = (length: number) => ({ WORKERS: '2', DATA_DIR: `/${'d'.repeat(length - 1)}` });
  expect(readConfig(dataDir(65), '/').nodeLink?.localDirectory).toHaveLength(69);
  expect(() => readConfig(dataDir(66), '/')).toThrow('DATA_DIR must be at most 65 bytes long with WORKERS');
});
