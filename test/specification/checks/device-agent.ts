// Section 4.8: the local API of the device agent, over a real agent and a gateway. One agent is asked for all, and started again.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalAgent, newDirectory, startLocal } from '../../agent/agents.ts';
import { type Service, startService, visit } from '../../agent/visitors.ts';
import { newCredential } from '../../support/agents/live.ts';
import { agentCalls, says, tunnelMembers } from '../tables.ts';
import { account, gateway } from '../walk.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Json = any;

const policyOf = (device: string) => ({
  inbound: [],
  outbound: [
    {
      expressions: ["req.Method == 'GET'"],
      name: 'Say who it is',
      actions: [{ type: 'add-headers', config: { headers: { 'x-device': device } } }],
    },
  ],
});
const given = policyOf('given');
const byDefault = policyOf('default');
const AGENT_API_TOKEN = 'a-token-of-the-walk';
const AGENT_DOMAIN = 'api.device.walk.tunnel.localhost';

/** What is asked for, by name; the domain of each is below one name. */
const requests: Record<string, object> = {
  plain: { protocol: 'http' },
  'policy null': { protocol: 'http', policy: null },
  'with a policy': { protocol: 'http', policy: given },
  https: { protocol: 'https' },
  tls: { protocol: 'tls' },
};
/** What is made and deleted, by the part of the URL that names it. */
const partOf: Record<string, (url: string) => string> = {
  'the host': (url) => new URL(url).hostname,
  'its first part': (url) => new URL(url).hostname.split('.')[0] ?? '',
  'the whole URL': (url) => encodeURIComponent(url),
};

/** Registers the checks. */
export function checkDeviceAgent(): void {
  test('4.8 the calls are those of the table', () => {
    expect(agentCalls).toEqual(['GET /tunnels', 'POST /tunnels', 'DELETE /tunnels/{url_part}']);
  });

  describe('4.8 an agent', () => {
    const { path, remove } = newDirectory();
    let service: Service;
    let environment: Record<string, string>;
    let agent: LocalAgent;
    let atFirst: Json;
    let list: Json[];
    const created: Record<string, { sent: Json; status: number; body: Json }> = {};
    const listed = (url: string) => list.find((one) => one.url === url);
    const urlOf = (name: string) => created[name]?.body.url as string;

    beforeAll(async () => {
      service = await startService('hello');
      const GATEWAY_CA = join(path, 'ca.pem');
      const AGENT_POLICY_FILE = join(path, 'policy.json');
      writeFileSync(GATEWAY_CA, gateway.ca);
      writeFileSync(AGENT_POLICY_FILE, JSON.stringify(byDefault));
      const { authtoken } = await newCredential(account);
      environment = { TUNNEL_AUTHTOKEN: authtoken, GATEWAY_ADDR: gateway.agent, GATEWAY_CA, AGENT_POLICY_FILE };
      agent = await startLocal(path, environment);
      atFirst = await agent.ask('GET', '/tunnels');
      const start = async (name: string, more: object) => {
        const domain = `${name.replaceAll(' ', '-')}.device.walk.tunnel.localhost`;
        const sent = { forwards_to: service.at, domain, ...more };
        const { status, body } = await agent.ask('POST', '/tunnels', sent);
        created[name] = { sent, status, body };
      };
      for (const [name, more] of Object.entries(requests)) await start(name, more);
      for (const name of Object.keys(partOf)) await start(name, { protocol: 'http' });
      list = (await agent.ask('GET', '/tunnels')).body;
    });
    afterAll(async () => {
      await agent?.close();
      await service?.close();
      remove();
    });

    test('GET /tunnels answers 200 with an empty array at first', () => {
      expect(atFirst).toMatchObject({ status: 200, body: [] });
      expect(atFirst.headers['content-type']).toMatch(/^application\/json\b/);
    });

    test.each([...Object.keys(requests), ...Object.keys(partOf)])(`%s: ${says('4.8 tunnel')}`, (name) => {
      expect(created[name]?.status).toBe(200);
      for (const shown of [created[name]?.body, listed(urlOf(name))])
        expect(Object.keys(shown).sort()).toEqual([...tunnelMembers].sort());
    });

    const taken = ['protocol', 'forwards_to', 'domain'];
    test.each(taken)('POST /tunnels takes %s, and it comes back there and in the list', (member) => {
      for (const name of Object.keys(requests)) {
        const { sent, body } = created[name] ?? expect.unreachable();
        expect(sent[member]).toBeDefined();
        expect([body[member], listed(body.url)[member]]).toEqual([sent[member], sent[member]]);
      }
    });

    test.each(['plain', 'https', 'tls'])('the URL of a tunnel has its protocol and domain: %s', (name) => {
      const { sent, body } = created[name] ?? expect.unreachable();
      expect(body.url).toMatch(new RegExp(`^${sent.protocol}://${sent.domain.replaceAll('.', '\\.')}(:\\d+)?$`));
    });
    test('the URL of a tcp tunnel has a port', async () => {
      const { status, body } = await agent.ask('POST', '/tunnels', { protocol: 'tcp', forwards_to: service.at });
      expect({ status, url: body.url }).toEqual({ status: 200, url: expect.stringMatching(/^tcp:\/\/[\w.]+:\d+$/) });
    });

    const without = ['plain', 'policy null'];
    test.each(without)(`%s: ${says('4.8 no policy')}`, async (name) => {
      expect(created[name]?.body.policy).toBeNull();
      expect((await visit(gateway, urlOf(name))).headers['x-device']).toBe('default');
    });
    test.each(without)(`%s: ${says('4.8 listed')}`, (name) => {
      const { policy } = listed(urlOf(name));
      expect(policy).toEqual(expect.any(String));
      expect(JSON.parse(policy)).toEqual(byDefault);
    });
    test(says('4.8 echo'), async () => {
      expect(created['with a policy']?.body.policy).toEqual(given);
      expect(JSON.parse(listed(urlOf('with a policy')).policy)).toEqual(given);
      expect((await visit(gateway, urlOf('with a policy'))).headers['x-device']).toBe('given');
    });
    test.each([
      ['a text', 'x'],
      ['a list', []],
      ['rules that are no list', { inbound: {} }],
      ['an action without a type', { inbound: [{ actions: [{ config: {} }] }] }],
    ])('POST /tunnels refuses a policy that is %s', async (_, policy) => {
      const answer = await agent.ask('POST', '/tunnels', { forwards_to: service.at, policy });
      expect(answer).toMatchObject({ status: 400 });
    });

    test.each(Object.keys(partOf))('DELETE /tunnels/{url_part}, by %s: it is gone, for visitors, too', async (name) => {
      const url = urlOf(name);
      expect((await visit(gateway, url)).body).toBe('hello');
      expect((await agent.ask('DELETE', `/tunnels/${partOf[name]?.(url)}`)).status).toBe(200);
      list = (await agent.ask('GET', '/tunnels')).body;
      expect(list.length).toBeGreaterThan(0);
      expect(listed(url)).toBeUndefined();
      expect((await visit(gateway, url)).status).toBe(404);
    });

    test(says('4.8 authtoken'), async () => {
      const { body } = await account.call('GET', '/tunnels');
      expect(body.tunnels.map((one: Json) => one.public_url)).toContain(urlOf('plain'));
      const withoutOne = { ...environment, TUNNEL_AUTHTOKEN: 'none' };
      const place = newDirectory();
      const other = await startLocal(place.path, withoutOne);
      const refused = await other.ask('POST', '/tunnels', { forwards_to: service.at });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      await other.close();
      place.remove();
    });

    test(says('4.8 open'), async () => {
      expect(Object.keys(environment)).not.toContain('AGENT_API_TOKEN');
      const answer = await fetch(`${agent.api}/tunnels`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toBeInstanceOf(Array);
    });

    test(`${says('4.8 persists')} After it, ${says('4.8 served')}, which a token guards`, async () => {
      const before = (await agent.ask('GET', '/tunnels')).body.filter((one: Json) => one.protocol !== 'tcp');
      await agent.close();
      expect(JSON.parse(readFileSync(join(path, 'tunnels.json'), 'utf8'))).toBeInstanceOf(Object);
      agent = await startLocal(path, { ...environment, AGENT_DOMAIN, AGENT_API_TOKEN });
      const headers = { authorization: `Bearer ${AGENT_API_TOKEN}` };
      const { body: after } = await agent.ask('GET', '/tunnels', undefined, headers);
      expect(after.filter((one: Json) => one.protocol !== 'tcp')).toEqual(before);
      for (const name of ['plain', 'with a policy']) {
        await agent.log.find(new RegExp(`tunnel active.*${created[name]?.sent.domain.replaceAll('.', '\\.')}`));
        expect((await visit(gateway, urlOf(name))).body).toBe('hello');
      }
      const [, origin = ''] = /(https:\/\/\S+)/.exec(await agent.printed.find(/^forwarding https:/)) ?? [];
      expect(new URL(origin).hostname).toBe(AGENT_DOMAIN);
      const answer = await visit(gateway, `${origin}/tunnels`, headers);
      expect({ status: answer.status, list: JSON.parse(String(answer.body)) }).toEqual({ status: 200, list: after });
    });
  });
}
