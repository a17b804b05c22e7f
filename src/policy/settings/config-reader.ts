// Implements `ConfigReader`: a mistake is reported, and the reader returns a value of the expected type fallback.

import { CelError } from '../cel/errors.ts';
import { compileExpression, type Expression } from '../cel/expression.ts';
import { compileTemplate, type Template, type TemplateStyle } from '../cel/template.ts';
import type { ActionKind, ConfigReader } from './action-kind.ts';
import { readDuration, writeDuration } from './duration.ts';
import { readHeaders } from './headers.ts';
import { collectUses, type PhaseContext } from './phase-context.ts';
import { PROBLEM } from './problems.ts';
import { MASKED, SECRET_TEMPLATE, SecretSettings } from './secret-settings.ts';
import { isObject } from './values.ts';

/** The default limit of a text or a template, in bytes. */
const TEXT_MAX = 64 * 1024;
const NONE: ReadonlySet<string> = new Set();

interface Range {
  min: number;
  max: number;
  default?: number;
}

/** Reads a config in a document, or an object nested in it. */
export class SettingsReader implements ConfigReader {
  readonly #context: PhaseContext;
  readonly place: string;
  readonly #settings: Record<string, unknown>;
  readonly #known: Set<string>;
  readonly #secrets: SecretSettings;
  readonly #nestedReaders: SettingsReader[] = [];

  /**
   * @param path the place of the config, as in `on_http_request[0].actions[1].config`.
   * @param kind the kind of action, which lists known members; left out for a nested object. Members that are read are known.
   */
  constructor(context: PhaseContext, path: string, settings: Record<string, unknown>, kind?: ActionKind) {
    this.#context = context;
    this.place = path;
    this.#settings = settings;
    this.#known = new Set(kind?.members);
    this.#secrets = new SecretSettings(kind);
    for (const masked of this.#secrets.masksIn(settings)) this.problem(masked, PROBLEM.masked, MASKED);
  }

  get phase() {
    return this.#context.phase;
  }

  get owner() {
    return this.#context.owner;
  }

  get environment() {
    return this.#context.environment;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  raw(name: string): unknown {
    this.#known.add(name);
    return Object.hasOwn(this.#settings, name) ? (this.#settings[name] ?? undefined) : undefined;
  }

  problem(path: string, number: number, message: string): void {
    const separator = path === '' || path.startsWith('[') ? '' : '.';
    this.#context.problems.report(`${this.place}${separator}${path}`, number, message);
  }

  text(name: string, limits: { max?: number; default?: string } = {}): string {
    const value = this.raw(name);
    if (value === undefined) return limits.default ?? this.#reportMissing(name, 'a text', '');
    return this.#checkText(name, value, limits.max ?? TEXT_MAX, limits.default !== undefined) ?? limits.default ?? '';
  }

  integer(name: string, limits: Range): number {
    return this.#number(name, limits, Number.isSafeInteger, 'a whole number');
  }

  number(name: string, limits: Range): number {
    return this.#number(name, limits, Number.isFinite, 'a number');
  }

  flag(name: string, defaultValue: boolean): boolean {
    const value = this.raw(name) ?? defaultValue;
    if (typeof value === 'boolean') return value;
    this.problem(name, PROBLEM.field, 'must be true or false');
    return defaultValue;
  }

  choice<T extends string>(name: string, values: readonly T[], defaultValue?: T): T {
    const value = this.raw(name) ?? defaultValue;
    const found = values.find((one) => one === value);
    if (found !== undefined) return found;
    const message = `must be ${values.length > 1 ? 'one of ' : ''}${values.map((one) => `"${one}"`).join(', ')}`;
    this.problem(name, value === undefined ? PROBLEM.missing : PROBLEM.choice, message);
    return defaultValue ?? (values[0] as T);
  }

  duration(name: string, limits: Range): number {
    const value = this.raw(name);
    const [min, max] = [writeDuration(limits.min), writeDuration(limits.max)];
    const message = `must be a duration from ${min} to ${max}, such as "10s" or "1m30s"`;
    if (value === undefined)
      return limits.default ?? this.#reportMissing(name, `a duration from ${min} to ${max}`, limits.min);
    const ms = typeof value === 'string' ? readDuration(value) : undefined;
    if (ms !== undefined && ms >= limits.min && ms <= limits.max) return ms;
    this.problem(name, PROBLEM.duration, message);
    return limits.default ?? limits.min;
  }

  texts(name: string, limits: { min: number; max: number }): string[] {
    return this.#readList(name, limits, 'texts').map(
      (item, i) => this.#checkText(`${name}[${i}]`, item, TEXT_MAX) ?? '',
    );
  }

  template(name: string, limits: { style?: TemplateStyle; max?: number; default?: string } = {}): Template {
    return this.compile(name, this.text(name, limits), limits.style);
  }

  templates(name: string, limits: { min: number; max: number; style?: TemplateStyle }): Template[] {
    return this.texts(name, limits).map((text, i) => this.compile(`${name}[${i}]`, text, limits.style));
  }

  headers(name: string, limits: { min: number; max: number }): { name: string; value: Template }[] {
    return readHeaders(this, name, limits);
  }

  expression(path: string, text: unknown): Expression {
    const checked = this.#checkText(path, text, TEXT_MAX) ?? 'true';
    return this.#compileOr<Expression>(
      path,
      PROBLEM.expression,
      { text: checked, variables: NONE, evaluate: () => false },
      () => this.#collect(path, compileExpression(checked, this.#context.vocabulary)),
    );
  }

  compile(path: string, text: unknown, style: TemplateStyle = 'plain'): Template {
    const checked = this.#checkText(path, text, TEXT_MAX, true) ?? '';
    const value = () => checked;
    const fallback = { text: checked, constant: checked, variables: NONE, evaluate: value, evaluateValue: value };
    return this.#compileOr<Template>(path, PROBLEM.template, fallback, () =>
      this.#collect(path, compileTemplate(checked, this.#context.vocabulary, style)),
    );
  }

  nested(name: string): SettingsReader | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : this.#nestedReader(name, value);
  }

  list(name: string, limits: { min: number; max: number }): SettingsReader[] {
    return this.#readList(name, limits, 'objects').flatMap(
      (item, i) => this.#nestedReader(`${name}[${i}]`, item) ?? [],
    );
  }

  /** Reports unknown members, which are typing errors most of the time. It must be called after all reads. */
  finish(): void {
    const known = [...this.#known];
    for (const name of Object.keys(this.#settings))
      if (!this.#known.has(name))
        this.problem(
          name,
          PROBLEM.field,
          known.length > 0
            ? `is not known here; known are: ${known.join(', ')}`
            : 'is not known: there are no settings',
        );
    for (const reader of this.#nestedReaders) reader.finish();
  }

  #number(name: string, limits: Range, isValid: (value: unknown) => boolean, what: string): number {
    const { min, max } = limits;
    const value = this.raw(name);
    if (value === undefined) return limits.default ?? this.#reportMissing(name, `${what} from ${min} to ${max}`, min);
    if (isValid(value) && (value as number) >= min && (value as number) <= max) return value as number;
    const number = typeof value === 'number' ? PROBLEM.range : PROBLEM.field;
    this.problem(name, number, `must be ${what} from ${min} to ${max}`);
    return limits.default ?? min;
  }

  #readList(name: string, { min, max }: { min: number; max: number }, of: string): unknown[] {
    const value = this.raw(name);
    if (value === undefined) return min > 0 ? this.#reportMissing(name, `a list of ${of}`, []) : [];
    if (!Array.isArray(value)) this.problem(name, PROBLEM.field, `must be a list of ${of}`);
    else if (value.length < min || value.length > max)
      this.problem(name, value.length === 0 ? PROBLEM.empty : PROBLEM.count, `must have ${min} to ${max} entries`);
    else return value;
    return [];
  }

  #checkText(path: string, value: unknown, max: number, mayBeEmpty = false): string | undefined {
    if (typeof value !== 'string') {
      const isQuotable = typeof value === 'number' || typeof value === 'boolean';
      const quoted = this.#secrets.has(path) ? '' : `, as "${value}"`;
      this.problem(path, PROBLEM.field, isQuotable ? `must be a text: put it in quotes${quoted}` : 'must be a text');
    } else if (value === '' && !mayBeEmpty) this.problem(path, PROBLEM.empty, 'must not be empty');
    else if (Buffer.byteLength(value) > max) this.problem(path, PROBLEM.length, `must have at most ${max} bytes`);
    else return value;
    return undefined;
  }

  #nestedReader(path: string, value: unknown): SettingsReader | undefined {
    if (!isObject(value)) {
      this.problem(path, PROBLEM.field, 'must be an object');
      return undefined;
    }
    const reader = new SettingsReader(this.#context, `${this.place}.${path}`, value);
    this.#nestedReaders.push(reader);
    return reader;
  }

  #compileOr<T>(path: string, number: number, fallback: T, compile: () => T): T {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const message = this.#secrets.has(path) ? SECRET_TEMPLATE : error.message;
      this.problem(path, number, `cannot be read at character ${error.position + 1}: ${message}`);
      return fallback;
    }
  }

  #collect<T extends { variables: ReadonlySet<string> }>(path: string, compiled: T): T {
    return collectUses(this.#context, `${this.place}.${path}`, compiled);
  }

  #reportMissing<T>(name: string, what: string, fallback: T): T {
    this.problem(name, PROBLEM.missing, `is missing: it must be ${what}`);
    return fallback;
  }
}
