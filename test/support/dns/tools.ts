// The tools that people ask name servers with: each told the same in its own words, and read in its own.

import { runProgram } from './programs.ts';

export const tools = ['dig', 'kdig', 'drill'] as const;
export type Tool = (typeof tools)[number];
export type Transport = 'UDP' | 'TCP';

export interface ToolQuestion {
  name: string;
  type: string;
  class?: 'CH';
  /** Asks for signatures. */
  isDnssecOk?: boolean;
  /** What the tool says that it takes over UDP. */
  udpBytes?: number;
  /** drill has no others than 0. */
  ednsVersion?: number;
}

export interface ToolAnswer {
  /** `failed` where dig does not get a zone, of which it tells no more. */
  status: string;
  /** Of the header, and those of EDNS. Transfers have them with drill only. */
  flags: string;
  /** `name TTL type value`, sorted. */
  answers: string[];
  authority: string[];
  output: string;
}

/** Asks once. An answer that is truncated is not asked for again over TCP. */
export async function askWith(
  tool: Tool,
  port: number,
  transport: Transport,
  question: ToolQuestion,
): Promise<ToolAnswer> {
  return read(await runProgram(tool, '@127.0.0.1', '-p', `${port}`, ...argumentsOf[tool](question, transport)));
}

const argumentsOf: Record<Tool, (question: ToolQuestion, transport: Transport) => string[]> = {
  dig: ({ name, type, class: dnsClass = 'IN', ...more }, transport) => [
    ...['+norecurse', '+tries=1', '+ignore', transport === 'TCP' ? '+tcp' : '+notcp', ...ednsWords(more)],
    ...(more.ednsVersion === undefined ? [] : ['+noednsnegotiation']),
    ...[name, type, dnsClass],
  ],
  kdig: ({ name, type, class: dnsClass = 'IN', ...more }, transport) => [
    // It would send all names in lower case.
    ...['+noidn', '+norecurse', '+retry=0', '+ignore', transport === 'TCP' ? '+tcp' : '+notcp', ...ednsWords(more)],
    ...['-c', dnsClass, name, type],
  ],
  drill: ({ name, type, class: dnsClass = 'IN', isDnssecOk, udpBytes }, transport) => [
    ...['-o', 'rd', transport === 'TCP' ? '-t' : '-u', ...(isDnssecOk ? ['-D'] : [])],
    ...(udpBytes === undefined ? [] : ['-b', `${udpBytes}`]),
    ...[name, type, dnsClass],
  ],
};

const ednsWords = ({ isDnssecOk, udpBytes, ednsVersion }: Omit<ToolQuestion, 'name' | 'type' | 'class'>) => [
  ...(isDnssecOk ? ['+dnssec'] : []),
  ...(udpBytes === undefined ? [] : [`+bufsize=${udpBytes}`]),
  ...(ednsVersion === undefined ? [] : [`+edns=${ednsVersion}`]),
];

function read(output: string): ToolAnswer {
  const [, status = ''] = /(?:status: |rcode: |replied with error '|; Transfer )(\w+)/.exec(output) ?? [];
  const [, header = ''] = /^;; flags: ([a-z ]*?) ?; QUERY/im.exec(output) ?? [];
  const [, edns = ''] = /version:? \d+[,;] flags: ?([a-z]*) ?;/i.exec(output) ?? [];
  return {
    ...{ status, flags: [header, edns].filter(Boolean).join(' '), output },
    ...{ answers: section(output, 'ANSWER'), authority: section(output, 'AUTHORITY') },
  };
}

function section(output: string, title: string): string[] {
  const [, after = ''] = output.split(`;; ${title} SECTION:\n`);
  const [text = ''] = after.split(/^\s*$|^;/m);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/\s+/g, ' ').replace(' IN ', ' '))
    .sort();
}
