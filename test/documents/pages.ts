// The pages that people read, and the fenced blocks on them. The first word after a fence is the language; what follows are marks,
// which GitHub does not show: `until-stopped`, `needs=promtool`, `tested-by=test/agent/install.test.ts`, `file=agent.yaml`.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export const pages = [
  'README.md',
  'src/README.md',
  'agent/README.md',
  'test/bench/README.md',
  'test/bench/data-plane/README.md',
  ...readdirSync(join(root, 'src/manual')).map((name) => `src/manual/${name}`),
];

export const read = (page: string) => readFileSync(join(root, page), 'utf8');

export interface Block {
  page: string;
  line: number;
  language: string;
  marks: Record<string, string>;
  text: string;
  /** What the page says that it prints: a block of `json` or `text` right after it. */
  answer?: Block;
}

/** The fenced blocks of a page, in their order. */
export function blocksOf(page: string): Block[] {
  const source = read(page);
  const found = [...source.matchAll(/^( *)```(\S*)(.*)\n([\s\S]*?)\n\1```$/gm)].map((match) => {
    const [all, indent = '', language = '', marks = '', text = ''] = match;
    return {
      ...{ begin: match.index, end: match.index + all.length },
      block: {
        ...{ page, language, line: source.slice(0, match.index).split('\n').length },
        marks: Object.fromEntries([...marks.matchAll(/([\w-]+)=?(\S*)/g)].map(([, name, value]) => [name, value])),
        text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      } as Block,
    };
  });
  for (const [index, { end, block }] of found.entries()) {
    const next = found[index + 1];
    if (next && ['json', 'text'].includes(next.block.language) && source.slice(end, next.begin).trim() === '')
      block.answer = next.block;
  }
  return found.map(({ block }) => block);
}
