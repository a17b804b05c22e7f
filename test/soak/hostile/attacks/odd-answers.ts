// A service of the tenant that answers as old embedded servers do, some of it beyond what can be relayed. Visitors of
// HTTP/1.1, HTTP/1.0 and TLS get the answer whole, or are told that there is none.

import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Counts } from '../attack.ts';
import { publish, type TenantService } from '../tenant-service.ts';

const PER_SECOND = 50;
const OPEN_MAX = 40;

const OK = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 6\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const BODY = 'whole.';

/** What is relayed, put right. */
const odd = [
  `HTTP/1.1 200 OK\nContent-Length: 6\n\n${BODY}`,
  `${OK}${LENGTH}\n${BODY}`,
  `HTTP/1.0 200\nA: b\n\n${BODY}`,
  `${OK}${LENGTH}${LENGTH}\r\n${BODY}`,
  `HTTP/1.2 200 OK\r\n${LENGTH}\r\n${BODY}`,
  `${OK}Connection: close, content-type\r\nContent-Type: a/b\r\n${LENGTH}\r\n${BODY}`,
  `${CHUNKED}6  \r\n${BODY}\r\n0 \r\n\r\n`,
  `${CHUNKED}6;a="b"\r\n${BODY}\r\n0;c\r\n\r\n`,
  `${CHUNKED}6\n${BODY}\n0\n\n`,
  `${CHUNKED}6\r\n${BODY}\r\n0\r\nContent-Length: 9\r\nA: b\r\n\r\n`,
  `HTTP/1.1 103 Early\nLink: </a>\n\n${OK}${LENGTH}\r\n${BODY}`,
];
/** What is not. */
const broken = [
  `${OK}${LENGTH}Content-Length: 7\r\n\r\n${BODY}`,
  `${OK}Content-Length : 6\r\n\r\n${BODY}`,
  `HTTP/1.1 200 OK\rContent-Length: 6\r\r${BODY}`,
  `${OK}${LENGTH}Transfer-Encoding: chunked\r\n\r\n6\r\n${BODY}\r\n0\r\n\r\n`,
  `${CHUNKED}x\r\n${BODY}\r\n0\r\n\r\n`,
  `${CHUNKED}6;${'a'.repeat(5000)}\r\n${BODY}\r\n0\r\n\r\n`,
  'SSH-2.0-OpenSSH_9.2\r\n',
];
const answers = [...odd, ...broken];

export const attack: Attack = {
  name: 'D18 answers of old embedded servers',
  async prepare(target) {
    const counts: Counts = { sent: 0, whole: 0, refused: 0, lost: 0, wrong: 0 };
    const service = createServer((socket: Socket) => {
      let asked = '';
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        asked += chunk;
        const [, number] = /^GET \/(\d+) [\s\S]*\r\n\r\n/.exec(asked) ?? [];
        if (number !== undefined) socket.end(Buffer.from(answers[Number(number)] ?? '', 'latin1'));
      });
    });
    const tenant = await publish(target, service, 'odd-answers');
    return (_target, signal) => attackService(tenant, counts, signal);
  },
};

async function attackService(tenant: TenantService, counts: Counts, signal: AbortSignal): Promise<Counts> {
  const open = new Set<Promise<void>>();
  for (let turn = 0; !signal.aborted; turn++) {
    const which = turn % answers.length;
    const listener = Math.floor(turn / answers.length) % 2 === 0 ? 'http' : 'https';
    const version = Math.floor(turn / answers.length) % 3 === 0 ? '1.0' : '1.1';
    const bytes = `GET /${which} HTTP/${version}\r\nHost: ${tenant.names[listener]}\r\nConnection: close\r\n\r\n`;
    const visit: Promise<void> = tenant.say(listener, bytes).then((text) => {
      open.delete(visit);
      count(counts, judged(text, which < odd.length));
    });
    open.add(visit);
    count(counts, 'sent');
    if (open.size >= OPEN_MAX) await Promise.race(open);
    await pause(1000 / PER_SECOND, undefined, { signal }).catch(() => {});
  }
  await Promise.all(open);
  await tenant.close();
  if (counts.wrong) throw new Error(`${counts.wrong} answers were relayed in another way than they should be`);
  return counts;
}

/** A gateway that is overloaded may answer 503 or nothing: no answer is wrong but another one. */
function judged(text: string, isOdd: boolean): string {
  if (/HTTP\/1\.1 200[\s\S]*whole\./.test(text) && isOdd)
    return /[^\r]\n/.test(text.split(BODY)[0] ?? '') ? 'wrong' : 'whole';
  if (/^HTTP\/1\.1 50[234]/.test(text)) return 'refused';
  if (text.includes(BODY)) return 'wrong';
  return 'lost';
}

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
