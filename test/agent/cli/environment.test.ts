// The agent's environment variables, and what they mean.

import { describe, expect, test } from 'vitest';
import { openLog } from '../../../agent/src/log.ts';
import { parseAllowList } from '../../../agent/src/settings/allow-list.ts';
import { ConfigError, readConfig } from '../../../agent/src/settings/config.ts';
import { root } from '../../support/root.ts';

describe('a mistake in the environment is reported by the name of its variable:', () => {
  test.each([
    ['TUNNEL_AUTHTOKEN', 'two words'],
    ['GATEWAY_ADDR', 'gateway.example.com'],
    ['GATEWAY_ADDR', 'gateway.example.com:0'],
    ['GATEWAY_ADDR', 'https://gateway.example.com:443'],
    ['GATEWAY_ADDR', '::1:4443'],
    ['GATEWAY_CA', '/no/such/file.pem'],
    ['GATEWAY_CA', 'package.json'],
    ['AGENT_DOMAIN', 'https://agent.example.com'],
    ['AGENT_DOMAIN', '*.example.com'],
    ['AGENT_DOMAIN', '192.168.1.1'],
    ['AGENT_API_ADDR', '8000'],
    ['AGENT_API_ADDR', '127.0.0.1:99999'],
    ['AGENT_API_TOKEN', 'short'],
    ['AGENT_API_UNPROTECTED', 'yes'],
    ['AGENT_API_TOKEN', 'with blanks in the middle'],
    ['AGENT_FORWARDS_TO', '10.0.0.0/40'],
    ['AGENT_FORWARDS_TO', '10.0.0.0/'],
    ['AGENT_FORWARDS_TO', 'a b'],
    ['AGENT_FORWARDS_TO', 'printer.lan:80'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
  ])('%s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value }, root)).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value }, root)).toThrow(new RegExp(`^${name} must .`, 'm'));
  });

  test('all of them at once, without secrets', () => {
    const env = { AGENT_API_TOKEN: 'a secret that is wrong', LOG_LEVEL: 'loud', GATEWAY_ADDR: 'x' };
    expect(() => readConfig(env, root)).toThrow(/^GATEWAY_ADDR .*\nAGENT_API_TOKEN (?!.*secret that).*\nLOG_LEVEL /);
  });
});

test('without any variable, the documented defaults hold; one that is set to nothing counts as not set', () => {
  const config = readConfig({}, '/srv');
  expect(config).toMatchObject({
    authtoken: '',
    gateways: [{ host: '127.0.0.1', port: 4443 }],
    legs: null,
    ca: undefined,
    domain: null,
    apiAddress: { host: '127.0.0.1', port: 8000 },
    apiToken: null,
    isApiUnprotected: false,
    stateFile: '/srv/tunnels.json',
    policyFile: null,
    logLevel: 'info',
    logFormat: 'json',
  });
  const names = ['GATEWAY_ADDR', 'GATEWAY_CA', 'AGENT_DOMAIN', 'AGENT_API_TOKEN', 'AGENT_FORWARDS_TO', 'LOG_LEVEL'];
  const { forwardsTo, ...empty } = readConfig(Object.fromEntries(names.map((name) => [name, ''])), '/srv');
  expect(config).toMatchObject({ ...empty, proxyFor: expect.any(Function) });
  expect(forwardsTo.text).toBe(config.forwardsTo.text);
});

describe('AGENT_FORWARDS_TO', () => {
  const names: Record<string, string[]> = {
    localhost: ['127.0.0.1', '::1'],
    'printer.lan': ['192.168.1.5'],
    'mixed.lan': ['127.0.0.1', '192.168.1.5'],
    'metadata.lan': ['169.254.169.254'],
    '2130706433': ['127.0.0.1'],
    '0xa9fea9fe': ['169.254.169.254'],
  };
  const resolve = async (name: string) => names[name] ?? Promise.reject(new Error(`no ${name}`));
  const allowed = (list: string, host: string) => parseAllowList(list, resolve).addresses(host);

  test.each([
    ['', '127.0.0.1'],
    ['', '127.8.9.10'],
    ['', '[::1]'],
    ['', '::ffff:127.0.0.1'],
    ['', '0:0:0:0:0:0:0:1'],
    ['', 'localhost'],
    ['', 'LOCALHOST.'],
    ['', '2130706433'],
    ['192.168.0.0/16', '192.168.1.5'],
    ['127.0.0.0/8', 'localhost'],
    ['192.168.0.0/16, 10.1.2.3', '10.1.2.3'],
    ['192.168.0.0/16', 'printer.lan'],
    ['printer.lan', 'printer.lan'],
    ['*.lan', 'Printer.lan'],
    ['*.lan', 'mixed.lan'],
    ['fd00::/8', '[fd12::1]'],
    ['0.0.0.0/0', '8.8.8.8'],
  ])('%j allows %s', async (list, host) => {
    expect(await allowed(list, host)).not.toEqual([]);
  });

  test.each([
    ['', '192.168.1.5'],
    ['', '::ffff:192.168.1.5'],
    ['', '0.0.0.0'],
    ['', 'printer.lan'],
    ['', 'mixed.lan'],
    ['192.168.0.0/16', '127.0.0.1'],
    ['10.1.2.3', '10.1.2.4'],
    ['*.lan', '127.0.0.1'],
    ['0.0.0.0/0, ::/0', '169.254.169.254'],
    ['0.0.0.0/0, ::/0', '::ffff:169.254.169.254'],
    ['0.0.0.0/0, ::/0', '::ffff:a9fe:a9fe'],
    ['0.0.0.0/0, ::/0', '64:ff9b::a9fe:a9fe'],
    ['0.0.0.0/0, ::/0', 'fe80::1'],
    ['0.0.0.0/0, ::/0', 'fe80::1%eth0'],
    ['0.0.0.0/0, ::/0', 'fd00:ec2::254'],
    ['0.0.0.0/0, ::/0', 'fd00:0ec2:0::254'],
    ['169.254.169.254', '169.254.169.254'],
    ['metadata.lan', 'metadata.lan'],
    ['*.lan', 'metadata.lan'],
    ['0.0.0.0/0', '0xa9fea9fe'],
  ])('%j does not allow %s', async (list, host) => {
    expect(await allowed(list, host)).toEqual([]);
  });

  test('gives the addresses that were looked at, so that none has to be looked up again', async () => {
    expect(await allowed('192.168.0.0/16, 127.0.0.0/8', 'mixed.lan')).toEqual(['127.0.0.1', '192.168.1.5']);
    await expect(allowed('', 'nowhere.lan')).rejects.toThrow('no nowhere.lan');
  });

  test('localhost is both loopback addresses, as far as they are allowed', async () => {
    expect(await allowed('', 'localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await allowed('::1/128', 'localhost')).toEqual(['::1']);
    expect(await allowed('10.0.0.0/8', 'localhost')).toEqual([]);
  });

  test('resolves names as the system does', async () => {
    expect(await parseAllowList('127.0.0.1/32').addresses('127.1')).toEqual(['127.0.0.1']);
  });
});

test('the log has one line each, of the levels asked for, as JSON or for people', () => {
  const lines: string[] = [];
  const json = openLog('warn', 'json', (line) => lines.push(line));
  json('info', 'not written');
  json('error', 'written', { code: 7, text: 'two\nlines' });
  openLog('info', 'text', (line) => lines.push(line))('info', 'for people', { url: 'http://a', count: 2 });
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', msg: 'written', code: 7, text: 'two\nlines' });
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(lines[1]).toMatch(/^\d{4}-.*Z INFO {2}for people url=http:\/\/a count=2\n$/);
});
