// `npm test -- --changed`: the files of tests that import, run or read what differs from a commit, directly or not. Vitest would
// find them by loading all that they import through vite, which takes minutes.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';
import { root } from './command.js';
import { optionsAmong } from './repeated-files.js';

/** The option, among the arguments of vitest. */
export const CHANGED = /^--changed(=|$)/;
/** Every test depends on these. */
const EVERYTHING = /^(package(-lock)?\.json|vitest\.config\.[jt]s|test\/support\/global-setup\.ts|prisma\/.*)$/;
const TEST = /^test\/.*\.test\.[jt]s$/;
const CODE = /^(src|agent|test)\/.*\.(m?js|tsx?)$/;
/** Imports of types are gone when code runs. */
const TYPE_IMPORTS = /^(import|export) type [^;]*? from '[^']*'/gm;
/** What code imports, runs or reads stands in quotes. */
const IN_QUOTES = /(['"`])((?:(?!\1|\$\{)[^\\\n])+)(?:\1|\$\{)/g;
/** What is built: its name, and the source that it is built from. */
const BUILT = /** @type {const} */ ([
  [/^dist\/bundle\b.*/, 'src/main.ts'],
  [/^agent\/dist\b.*/, 'agent/src/main.ts'],
  [/^dist(?=\/)/, 'src'],
  [/^@gateway\/protocol$/, 'src/protocol/index.ts'],
]);
/** The one build that finds its sources by itself. */
const BUILD_OF_DASHBOARD = 'src/dashboard/build.js';

/**
 * Replaces `--changed`, behind which a commit may stand, and words by the files of tests that have one of these words in their paths.
 * @param {string[]} args the arguments of vitest.
 * @returns {Promise<string[] | undefined>} undefined when no file is left.
 */
export async function withChanged(args) {
  const { parseCLI } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  let tests;
  try {
    tests = testsOfChanges(typeof options.changed === 'string' ? options.changed : 'HEAD');
  } catch (error) {
    process.stderr.write(`Cannot run: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
  if (!tests) process.stdout.write('Every test depends on what has changed\n');
  const chosen = tests?.filter((file) => filter.length === 0 || filter.some((word) => file.includes(word)));
  if (chosen?.length === 0) return undefined;
  // Of these files, some are only in `npm run soak`.
  const kept = [...optionsAmong(args, filter, CHANGED), '--passWithNoTests'];
  return [...kept, ...(chosen?.map((file) => join(root, file)) ?? filter)];
}

/**
 * Returns the files of tests that may behave otherwise since a commit, from the root; undefined when these are all.
 * @param {string} commit
 * @param {string} [repository] its absolute path.
 * @throws {Error} when git knows no such commit.
 */
export function testsOfChanges(commit, repository = root) {
  /**
   * @param {string} command
   * @param {string[]} args
   */
  const git = (command, ...args) =>
    execFileSync('git', [command, '-z', ...args], { cwd: repository, encoding: 'utf8', stdio: 'pipe' })
      .split('\0')
      .filter(Boolean);
  const untracked = git('ls-files', '--others', '--exclude-standard');
  const changed = [...git('diff', '--name-only', '--no-renames', '--relative', commit, '--'), ...untracked];
  if (changed.some((file) => EVERYTHING.test(file))) return undefined;

  // What was deleted is still imported.
  const files = new Set([...git('ls-files'), ...untracked, ...changed]);
  const code = [...files].filter((file) => CODE.test(file) && existsSync(join(repository, file)));
  const users = new Users(files);
  for (const file of code) users.add(file, readFileSync(join(repository, file), 'utf8'));
  const concerned = users.of(changed);
  return code.filter((file) => TEST.test(file) && concerned.has(file)).sort();
}

/** Who uses which file. */
class Users {
  /** @type {Map<string, string[]>} by file: a change of what it uses concerns them, too. */
  #importers = new Map();
  /** @type {Map<string, string[]>} by file or directory. */
  #readers = new Map();
  /** @type {Map<string, string[]>} the files of a name. */
  #named = new Map();
  #files;
  #directories = new Set();

  /** @param {Set<string>} files all that there are. */
  constructor(files) {
    this.#files = files;
    for (const file of files) {
      put(this.#named, basename(file), file);
      for (const directory of above(file)) this.#directories.add(directory);
    }
  }

  /**
   * @param {string} user
   * @param {string} text the code in it.
   */
  add(user, text) {
    if (user === BUILD_OF_DASHBOARD) put(this.#readers, dirname(user), user);
    for (const [, , name = ''] of text.replace(TYPE_IMPORTS, '').matchAll(IN_QUOTES)) {
      const beside = this.#source(join(dirname(user), name));
      if (beside) put(this.#importers, beside, user);
      else if (name === '@gateway/protocol' || user.startsWith('test/')) this.#addNamed(user, name);
    }
  }

  /**
   * @param {string} user
   * @param {string} name
   */
  #addNamed(user, name) {
    const [pattern, source = ''] = BUILT.find(([pattern]) => pattern.test(name)) ?? [];
    const path = join(
      /^\.\.?\//.test(name) ? dirname(user) : '',
      pattern ? name.replace(pattern, source) : name,
    ).replace(/\/$/, '');
    const file = this.#source(path);
    // Node runs no TypeScript: a source that is named is read, except by what bundles programs of tests.
    if (file && (pattern || !path.endsWith('.ts') || path.startsWith('test/'))) put(this.#importers, file, user);
    else if (file) put(this.#readers, file, user);
    else if (name === 'ls-files') put(this.#readers, '.', user);
    // A single word is mostly no directory. That of a file may stand behind a directory, or be what the gateway serves.
    else if (this.#directories.has(path) && path.includes('/')) put(this.#readers, path, user);
    else {
      const [only, another] = this.#named.get(name) ?? [];
      if (only && !another && name.includes('.') && TEST.test(user)) put(this.#readers, only, user);
    }
  }

  /** @param {string} path @returns the file, or the one that it is compiled from. */
  #source(path) {
    return [path, path.replace(/\.js$/, '.ts')].find((file) => this.#files.has(file));
  }

  /** @param {string[]} changed */
  of(changed) {
    const readers = changed.flatMap((file) =>
      [file, ...above(file)].flatMap((place) => this.#readers.get(place) ?? []),
    );
    const concerned = new Set([...changed, ...readers]);
    // A set is walked in the order of addition, and to the end of what is added meanwhile.
    for (const file of concerned) for (const importer of this.#importers.get(file) ?? []) concerned.add(importer);
    return concerned;
  }
}

/** @param {string} path @returns {string[]} its directories, up to the root, which is `.`. */
const above = (path) => (path === '.' ? [] : [dirname(path), ...above(dirname(path))]);

/**
 * @param {Map<string, string[]>} map
 * @param {string} key
 * @param {string} value
 */
function put(map, key, value) {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
