// Every command of the README and of the pages of the manual is run as it stands there, and prints what the page says. Blocks that
// are marked `tested-by` stand for what other tests start.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, specifiedRules, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { readConfig } from '../../src/config/config.ts';
import { scripts } from '../boot/scripts.ts';
import { root } from '../support/root.ts';
import { openPageLab, type PageLab } from './page-lab.ts';
import { type Block, blocksOf, pages, read } from './pages.ts';
import type { Terminal } from './terminal.ts';

const LANGUAGES = [
  'caddyfile',
  'dockerfile',
  'graphql',
  'haproxy',
  'ini',
  'js',
  'json',
  'nginx',
  'sql',
  'text',
  'yaml',
];
/** Of commands. */
const SHELLS = ['sh', 'crontab'];
/** What a command may need that not every machine has. */
const TOOLS = ['promtool', 'prometheus'];
/** Nothing of a page is run as root. */
const NEVER_RUN = ['root'];

const blocks = pages.flatMap(blocksOf);
const commands = blocks.filter(({ language }) => SHELLS.includes(language));
const byPlace = (some: Block[]) =>
  some.map((block) => ({ block, place: `${block.page}:${block.line}`, first: block.text.split('\n')[0] ?? '' }));
const isTestedElsewhere = ({ marks }: Block) => marks['tested-by'] !== undefined;
const keepsOn = ({ marks }: Block) => marks['until-stopped'] !== undefined;

describe('what stands at a fence is known', () => {
  test.each(byPlace(blocks))('$place: $block.language', ({ block: { language, marks } }) => {
    expect([...LANGUAGES, ...SHELLS]).toContain(language);
    const known = language === 'sh' ? ['needs', 'tested-by', 'until-stopped'] : ['tested-by'];
    for (const mark of Object.keys(marks)) expect(language === 'yaml' ? ['file'] : known).toContain(mark);
    if (marks.needs !== undefined) expect([...TOOLS, ...NEVER_RUN]).toContain(marks.needs);
    if (language === 'crontab') expect(marks).toHaveProperty(['tested-by']);
  });
});

describe('the other test of a block is there, and starts the same', () => {
  test.each(byPlace(commands.filter(isTestedElsewhere)))('$place: $first', ({ block }) => {
    const files = block.marks['tested-by']?.split(',') ?? [];
    const texts = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const isRun = (script: string) => scripts[script]?.some(({ file }) => files.includes(file)) ?? false;
    const names = [...block.text.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => name !== 'ci' && !isRun(name))).toEqual([]);
    // Programs, and paths of the API.
    const words = [...block.text.matchAll(/[\w-]+\.(?:js|sh)\b|(?<=\.com)\/\w+\/\w+(?=\/)/g)];
    expect(words.map(([word]) => word).filter((word) => !texts.includes(word))).toEqual([]);
  });
});

describe('the gateway would start with these settings', () => {
  const starts = commands.filter(({ text }) => /=\S+ npm start\b/.test(text));
  test.each(byPlace(starts))('$place: $first', ({ block }) => {
    const settings = [...block.text.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]);
    readConfig(Object.fromEntries(settings), root);
    const known = read('src/manual/configuration.md');
    expect(settings.filter(([name]) => !known.includes(`\`${name}\``))).toEqual([]);
  });
});

test.each(byPlace(blocks.filter(({ language }) => language === 'graphql')))('GraphQL knows $place', ({ block }) => {
  // Several operations without a name stand for several requests.
  const rules = specifiedRules.filter(({ name }) => name !== 'LoneAnonymousOperationRule');
  expect(validate(schema, parse(block.text), rules)).toEqual([]);
});

describe('every script, benchmark and soak that a page names is there', () => {
  const inLines = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:`|^)(npm (?:run )?([a-z][\w:-]*)(?: -- ([\w-]+))?)/gm)].map(
      ([, line, script = '', word]) => ({ page, line, script, word }),
    ),
  );
  test.each(inLines)('$line, as $page says', ({ script, word }) => {
    expect(['ci', ...Object.keys(scripts)]).toContain(script);
    const directory = { bench: 'test/bench', soak: 'test/soak' }[script];
    // NAME stands for any of them.
    if (directory && word !== 'NAME')
      expect(readdirSync(join(root, directory)).map((name) => name.replace('.test.ts', ''))).toContain(word);
  });
});

const has = (program: string) => spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0;
const absent = ['bash', 'curl', ...TOOLS].filter((program) => !has(program));
const toRun = commands.filter((block) => !isTestedElsewhere(block) && !NEVER_RUN.includes(block.marks.needs ?? ''));

describe.skipIf(absent.includes('bash') || absent.includes('curl'))(
  'typed into a terminal, it does what it says',
  () => {
    let lab: PageLab;
    beforeAll(async () => {
      lab = await openPageLab();
    });
    afterAll(() => lab?.close());

    describe.each([...new Set(toRun.map(({ page }) => page))])('%s', (page) => {
      let terminal: Terminal;
      beforeAll(() => {
        terminal = lab.terminalFor(page);
      });
      afterAll(() => terminal.close());

      // In the order of the page: each may build on what those before it have done.
      for (const { block, place, first } of byPlace(toRun.filter((block) => block.page === page)))
        test.skipIf(absent.includes(block.marks.needs ?? ''))(`${place}: ${first}`, async () => {
          if (keepsOn(block)) return startEach(block);
          const printed = await terminal.run(lab.here(block.text));
          if (block.answer?.language === 'json') expect(inGeneral(printed)).toBe(inGeneral(block.answer.text));
          else if (block.answer) expect(printed.replaceAll('\r', '')).toMatch(wholly(lab.here(block.answer.text)));
        });

      /** Starts what goes on until it is stopped; the page says what each command prints. */
      async function startEach({ text, answer }: Block) {
        const lines = answer?.text.split('\n') ?? [];
        for (const command of text.split(/(?<!\\)\n/)) {
          if (command.startsWith('export ')) await terminal.run(lab.here(command));
          else lab.opened(await terminal.start(lab.here(command), likely(lab.here(lines.shift() ?? ''))));
        }
        expect(lines).toEqual([]);
      }
    });
  },
);

/** A line of a page, whatever address a gateway has there. */
function likely(line: string): RegExp {
  expect(line, 'what it prints').not.toBe('');
  return new RegExp(pattern(line), 'm');
}

const wholly = (text: string) => new RegExp(`^${pattern(text)}\n*$`);

function pattern(text: string): string {
  return text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('4f1c…', '[0-9a-f]+')
    .replace(/\\.tunnel\\.(example\\.com|localhost)(:\d+)?|tunnel\\.example\\.com/g, '\\.?tunnel\\.localhost(:\\d+)?')
    .replaceAll('\\.example\\.com', '\\.example\\.com(:\\d+)?')
    .replaceAll(/127\\.0\\.0\\.1:8000/g, '127\\.0\\.0\\.1:\\d+');
}

/** A JSON text with its members in their order, and what varies from run to run by its form alone. */
function inGeneral(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
    .replace(/\b([a-z]+_)[0-9A-Za-z]{27}(?=["/])/g, '$1…')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:4000')
    .replace(/"[0-9A-Za-z]{27}_[0-9A-Za-z]{24}"/g, '"a token"')
    .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"a time"');
}
