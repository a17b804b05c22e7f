// Section 2.1: which rules a credential may have, through both doors, and what an agent with one may bind.

import { beforeAll, describe, expect, test } from 'vitest';
import { StreamType } from '../../../src/protocol/index.ts';
import { newSecret } from '../../../src/store/ids.ts';
import { newCredential } from '../../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../../support/agents/raw-agent.ts';
import { says } from '../tables.ts';
import { account, ask, done, doorNames, fullAnswer, gateway, live, once } from '../walk.ts';

/** Rules of each form, and what is near it and none, by the sentence about them. */
const forms: [title: string, rules: string[], refused: string[]][] = [
  [
    says('2.1 bind'),
    ['bind:example.com', 'bind:*'],
    ['bind:', 'bind', 'BIND:example.com', 'allow:example.com', 'deny:example.com', 'example.com', ''],
  ],
  [
    says('2.1 domain'),
    ['bind:example.com', 'bind:a.b.example.com', 'bind:EXAMPLE.com'],
    ['bind:exa mple.com', 'bind:example..com', 'bind:.example.com', 'bind:https://example.com', 'bind:example.com/a'],
  ],
  [
    says('2.1 wildcard'),
    ['bind:*.example.com', 'bind:*.a.b.example.com'],
    ['bind:*example.com', 'bind:a.*.example.com', 'bind:*.*.example.com', 'bind:*.'],
  ],
  [
    says('2.1 address'),
    ['bind:1.tcp.example.com:20000', 'bind:example.com:1', 'bind:example.com:65535'],
    ['bind:example.com:', 'bind:example.com:0', 'bind:example.com:65536', 'bind:example.com:http', 'bind::20000'],
  ],
  [
    says('2.1 label'),
    ['bind:app=shop', 'bind:app=*', 'bind:*=shop', 'bind:*=*'],
    ['bind:=shop', 'bind:app=', 'bind:=', 'bind:app=sh*', 'bind:ap*=shop'],
  ],
  [says('2.1 star'), ['*'], ['**', '* ', '*.*']],
];

let names = 0;
/** Names and addresses that the account has reserved. */
const addresses: string[] = [];

const bind = (agent: RawAgent, target: string) => {
  if (target.includes('=')) {
    const [key = '', value] = target.split('=');
    return agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { [key]: value }, ForwardsTo: 'x', Metadata: '' });
  }
  return target.includes(':') ? agent.bind('', { Proto: 'tcp', Opts: { Addr: target } }) : agent.bind(target);
};

/** Checks what an agent may bind whose credential has these rules. */
async function agentMay(acl: string[] | undefined, allowed: string[], forbidden: string[]): Promise<void> {
  const { authtoken } = await newCredential(account, acl ? { acl } : {});
  const agent = await rawAgent(gateway);
  expect((await agent.auth(authtoken)).Error).toBe('');
  for (const target of allowed) expect((await bind(agent, target)).Error, `${acl} and ${target}`).toBe('');
  for (const target of forbidden) expect((await bind(agent, target)).Error, `${acl} and ${target}`).toMatch(/ACL/);
}

/** Registers the checks. */
export function checkAcl(): void {
  describe.each(doorNames)('rules through %s', (door) => {
    test.each(forms.flatMap(([title, rules]) => rules.map((rule) => [rule, title, rules] as const)))(
      '"%s" is taken, and comes back as it was written: %s',
      async (rule, title, rules) => {
        const answer = await once(`${door} ${title}`, () => done(door, 'POST /credentials', { body: { acl: rules } }));
        expect(answer.acl).toEqual(rules);
        expect(answer.acl).toContain(rule);
      },
    );

    test.each(forms.flatMap(([title, , refused]) => refused.map((rule) => [rule, title])))(
      '"%s" is refused: %s',
      async (rule) => {
        const refusal = { status: 400, body: null, message: expect.stringContaining('acl[1]') };
        expect(await ask(door, 'POST /credentials', { body: { acl: ['*', rule] } })).toMatchObject(refusal);
      },
    );

    test('an update takes and refuses the same, and what is refused changes nothing', async () => {
      const { id } = (await fullAnswer(door, 'POST /credentials')).answer;
      const update = (acl: string[]) => ask(door, 'PATCH /credentials/{id}', { ids: { id }, body: { acl } });
      const all = forms.flatMap(([, rules]) => rules);
      expect(await update(all)).toMatchObject({ status: 200, body: { acl: all } });
      for (const [, , [refused = '']] of forms)
        expect(await update([refused])).toMatchObject({ status: 400, message: expect.stringContaining('acl[0]') });
      expect((await done(door, 'GET /credentials/{id}', { ids: { id } })).acl).toEqual(all);
      expect(await update([])).toMatchObject({ status: 200, body: { acl: [] } });
    });

    test('an ACL is optional: unspecified, it is an empty list', async () => {
      expect((await done(door, 'POST /credentials', { body: {} })).acl).toEqual([]);
    });
  });

  describe('an agent whose credential has rules:', () => {
    const newName = () => `acl-${++names}.${live.zone}`;
    beforeAll(async () => {
      for (let n = 0; n < 3; n++) addresses.push((await account.call('POST', '/reserved_addrs', {})).body.addr);
    });

    test(`${says('2.1 restricts')} ${says('5 acl')} ${says('2.1 address')}`, async () => {
      const [one = '', other = ''] = addresses;
      await agentMay([`bind:${one}`], [one], [other, newName(), 'app=shop']);
    });
    test(says('2.1 domain'), async () => {
      const name = newName();
      await agentMay(
        [`bind:${name}`],
        [name],
        [newName(), `a.${name}`, `*.${live.zone}`, addresses[1] ?? '', 'app=shop'],
      );
    });
    test(says('2.1 wildcard'), async () => {
      const { zone } = live; // To serve a wildcard, one reserves that same wildcard.
      await agentMay([`bind:*.${zone}`], [newName(), `a.${newName()}`, `*.${zone}`], [zone, `x${zone}`]);
    });
    test.each([
      ['app=shop', ['app=shop'], ['app=other', 'site=shop']],
      ['app=*', ['app=shop', 'app=other'], ['site=shop']],
      ['*=shop', ['app=shop', 'site=shop'], ['app=other']],
      ['*=*', ['app=shop', 'site=other'], []],
    ])(`%s: ${says('2.1 label')}`, async (rule, allowed, forbidden) => {
      await agentMay([`bind:${rule}`], allowed, [...forbidden, newName(), addresses[1] ?? '']);
    });
    test(says('2.1 star'), async () => {
      await agentMay(['bind:other.example.com', '*'], [newName(), addresses[1] ?? '', 'any=thing'], []);
    });
    test(says('2.1 empty'), async () => {
      await agentMay([], [newName(), addresses[2] ?? '', 'any=thing'], []);
    });

    test(says('5 agents'), async () => {
      const { authtoken, credentialId } = await newCredential(account);
      expect((await (await rawAgent(gateway)).auth(authtoken)).Error).toBe('');
      for (const other of [account.key, newSecret(credentialId)])
        expect(codeOf(await (await rawAgent(gateway)).auth(other))).toBeDefined();
    });

    test(says('4.7 wildcard'), async () => {
      await agentMay(undefined, [newName(), newName()], []);
      const stranger = await rawAgent(gateway);
      await stranger.auth((await newCredential(await gateway.newAccount())).authtoken);
      expect((await stranger.bind(newName())).Error).not.toBe('');
    });
  });
}
