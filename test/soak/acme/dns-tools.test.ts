// `npm run soak -- acme`: the name server of a running gateway, as the tools of others see it.

import { Resolver } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../src/net/free-port.ts';
import { certificateApi } from '../../acme/certificate-api.ts';
import { missing, type Program, pathOf, runProgram } from '../../support/dns/programs.ts';
import { askWith, type Tool, type ToolAnswer, type Transport, tools } from '../../support/dns/tools.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type Asked, MANY, type Names, questionsOf, soaOf } from './dns-questions.ts';

const CHALLENGE_MS = 600_000;

let gateway: TestGateway;
let port: number;
let names: Names;

beforeAll(async () => {
  port = await freePort('127.0.0.1');
  gateway = await startTestGateway({
    ...{ BASE_DOMAIN: 'tunnel.test', PUBLIC_ADDRESSES: '192.0.2.1,2001:db8::1' },
    ...{ DNS_PORT: `${port}`, DNS_SERVE_BASE_DOMAIN: 'true' },
  });
  const first = await awaitTexts('*.first.com', ['one', 'two']);
  const second = await awaitTexts('*.second.com', MANY);
  names = { target: first.target, challenge: first.challenge, many: second.challenge };
});
afterAll(() => gateway?.close());

/** Reserves a wildcard, and has the gateway await challenges with these texts. */
async function awaitTexts(domain: string, texts: string[]): Promise<{ target: string; challenge: string }> {
  const reserved = await certificateApi(gateway).reserve(domain);
  const challenge = reserved.acme_challenge_cname_target ?? '';
  const { acmeChallenge, managedCertificate } = gateway.app.prisma;
  const { id: managedCertificateId } = await managedCertificate.findFirstOrThrow({ where: { domainId: reserved.id } });
  const expiresAt = new Date(Date.now() + CHALLENGE_MS);
  await acmeChallenge.createMany({
    data: texts.map((value) => ({
      ...{ id: `chal_${value}`, managedCertificateId, kind: 'dns-01', name: challenge, value, expiresAt },
    })),
  });
  return { target: reserved.cname_target, challenge };
}

// The names are not known before the gateway runs; what is asked is.
const kinds = questionsOf({ target: '', challenge: '', many: '' });

const table: string[] = [];
afterAll(() => void process.stdout.write(`tool | question | status, flags, answer\n${table.join('\n')}\n`));

for (const tool of tools)
  describe.skipIf(!pathOf(tool))(`${tool} reads what it has to${whyNot(tool)}:`, () => {
    const can = kinds.filter(({ ednsVersion }) => tool !== 'drill' || ednsVersion === undefined);
    test.each(can.map(({ what }) => what))('%s', async (what) => {
      const asked = questionsOf(names).find((one) => one.what === what) as Asked;
      for (const transport of asked.isTransfer ? (['TCP'] as const) : (['UDP', 'TCP'] as const)) {
        const answer = await askWith(tool, port, transport, asked);
        table.push(rowOf(tool, transport, asked, answer));
        expect.soft(answer, answer.output).toMatchObject(expectedOf(tool, transport, asked));
      }
    });
  });

function whyNot(program: Program): string {
  return pathOf(program) ? '' : ` (${missing(program)})`;
}

function expectedOf(tool: Tool, transport: Transport, asked: Asked): Partial<ToolAnswer> {
  const { status, flags = '', answers = [], negativeOf, isDnssecOk, isTransfer, udpBytes } = asked;
  if (isTransfer && tool !== 'drill') return { status: tool === 'dig' ? 'failed' : status, answers };
  const isTruncated = udpBytes === 512 && transport === 'UDP';
  return {
    ...{ status, flags: [flags, isTruncated ? 'tc' : '', isDnssecOk ? 'do' : ''].filter(Boolean).join(' ') },
    answers: isTruncated ? [] : answers,
    authority: negativeOf === undefined ? [] : [soaOf(negativeOf)],
  };
}

function rowOf(tool: Tool, transport: Transport, asked: Asked, { status, flags, answers, authority }: ToolAnswer) {
  const records = answers.length > 0 ? answers : authority;
  const more = records.length > 2 ? ` and ${records.length - 2} more` : '';
  const question = [asked.name, asked.class, asked.type, `over ${transport}`, `(${asked.what})`].filter(Boolean);
  const read = [status, flags || 'no flags', (records.slice(0, 2).join('; ') || 'nothing') + more];
  return `${tool} | ${question.join(' ')} | ${read.join(', ')}`;
}

describe.skipIf(!pathOf('dnsperf'))(`dnsperf${whyNot('dnsperf')}`, () => {
  const SECONDS = '5';

  async function perform(what: string, ...more: string[]) {
    const questions = join(gateway.place.dataDir, 'questions');
    const tunnels = Array.from({ length: 100 }, (_, i) => `app-${i}.tunnel.test A\n`);
    await writeFile(questions, [...tunnels, `${names.target} AAAA\n`, `${names.challenge} TXT\n`].join(''));
    const args = ['-s', '127.0.0.1', '-p', `${port}`, '-d', questions, '-l', SECONDS, ...more];
    const output = await runProgram('dnsperf', ...args);
    const numberOf = (pattern: RegExp) => Number(pattern.exec(output)?.[1]);
    const [sent, lost] = [numberOf(/Queries sent:\s+(\d+)/), numberOf(/Queries lost:\s+(\d+)/)];
    const perSecond = Math.round(numberOf(/Queries per second:\s+([\d.]+)/));
    process.stdout.write(`dnsperf, ${what}: ${sent} questions, ${lost} lost, ${perSecond} answers a second\n`);
    return { sent, lost, output };
  }

  test.each([
    ['over TCP', ['-m', 'tcp', '-c', '4']],
    ['over UDP, under the limit of a network', ['-Q', '150']],
  ])('has every question answered %s', async (what, args) => {
    const { sent, lost, output } = await perform(what, ...args);
    expect(sent).toBeGreaterThan(0);
    expect(lost).toBe(0);
    expect(output).toMatch(/Response codes:\s+NOERROR \d+ \(100\.00%\)/);
  });

  test('has some answered over UDP when it asks as fast as it can, and others are answered soon after', async () => {
    const { sent, lost } = await perform('over UDP, as fast as it can', '-t', '1');
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(sent);
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    expect(await eventually(() => resolver.resolve4('any.tunnel.test'))).toEqual(['192.0.2.1']);
  });
});
