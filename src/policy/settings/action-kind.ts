// What a kind of action is: how it reads its settings, and what it does.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../http/exchange.ts';
import type {
  CloseConnection,
  ForwardToEndpoint,
  ModuleEnvironment,
  ModuleOwner,
  NewConnection,
  Verdict,
} from '../../http/module.ts';
import type { PolicyActionType } from '../../protocol/policy/policy-secrets.ts';
import type { Expression } from '../cel/expression.ts';
import type { Template, TemplateStyle } from '../cel/template.ts';
import type { Bindings, PolicyPhase } from '../cel/vocabulary.ts';

/**
 * Reads the settings of one action. What is wrong is reported with its place and the number of its error, and reading goes
 * on with a value of the right type, so that everything that is wrong is found at once.
 */
export interface ConfigReader {
  readonly phase: PolicyPhase;
  readonly owner: ModuleOwner;
  readonly environment: ModuleEnvironment;
  has(name: string): boolean;
  /** The member as it is; undefined when it is missing or null. */
  raw(name: string): unknown;
  /** @param path of a member, as `url` or `issuer.allow_list[0]`; '' for the settings themselves. */
  problem(path: string, number: number, message: string): void;
  /** Limits are bytes of UTF-8. Missing, without a default: a problem. */
  text(name: string, limits?: { max?: number; default?: string }): string;
  integer(name: string, limits: { min: number; max: number; default?: number }): number;
  number(name: string, limits: { min: number; max: number; default?: number }): number;
  flag(name: string, otherwise: boolean): boolean;
  choice<T extends string>(name: string, values: readonly T[], otherwise?: T): T;
  /** A duration such as `10s`, `1m30s` or `250ms`, in milliseconds. */
  duration(name: string, limits: { min: number; max: number; default?: number }): number;
  texts(name: string, limits: { min: number; max: number }): string[];
  template(name: string, limits?: { style?: TemplateStyle; max?: number; default?: string }): Template;
  /** Templates of a list. */
  templates(name: string, limits: { min: number; max: number; style?: TemplateStyle }): Template[];
  /** Header fields by name: `{ "x-a": "…${…}" }`, their names checked. Fields that frame a message, and the user agent, are refused. */
  headers(name: string, limits: { min: number; max: number }): { name: string; value: Template }[];
  /** CEL that is not in a template. */
  expression(path: string, text: unknown): Expression;
  compile(path: string, text: unknown, style?: TemplateStyle): Template;
  /** Reads an object within, such as `issuer`; undefined when it is missing. */
  within(name: string): ConfigReader | undefined;
  /** Reads a list of objects. */
  list(name: string, limits: { min: number; max: number }): ConfigReader[];
}

/** What an action does with a visit. */
export interface ActionRun {
  readonly phase: PolicyPhase;
  readonly bindings: Bindings;
  /** The request under way; undefined in `on_tcp_connect`. */
  readonly exchange: HttpExchange | undefined;
  /** The connection; undefined in the phases of HTTP. */
  readonly connection: NewConnection | undefined;
  /** Says what `actions.<name>` is from now on; members are in snake case. */
  result(name: string, value: Record<string, CelInput>): void;
  /** Says what `vars.<name>` is from now on. */
  variable(name: string, value: CelInput): void;
}

/** In `on_tcp_connect`, a connection is closed or forwarded; it has no answers. */
export type ActionVerdict = Verdict | CloseConnection | ForwardToEndpoint;

export interface CompiledAction {
  /** Whether nothing after it can run, whatever happens. */
  readonly isTerminal: boolean;
  /** Whether it goes by the path of the request, beyond what its templates and expressions read. */
  readonly readsPath?: boolean;
  /** The name of the internal endpoint that it leads to; left out where there is none, or it is computed for each visit. */
  readonly leadsTo?: string;
  /** Whether it ends the visitor's TLS. */
  readonly endsTls?: boolean;
  run(run: ActionRun): ActionVerdict | Promise<ActionVerdict>;
  /** Told what upstream did, where the action let a request pass. */
  onOutcome?(exchange: HttpExchange, outcome: number | 'failed' | 'unasked'): void;
}

export interface ActionKind {
  /** As policies call it. Which of its members are secrets is in `policy-secrets.ts`, which has a line for each type. */
  readonly type: PolicyActionType;
  /** Its older names. */
  readonly aliases?: readonly PolicyActionType[];
  readonly phases: readonly PolicyPhase[];
  /** Protocols that it is for; all when left out. */
  readonly protos?: readonly string[];
  /** The members that its settings may have. */
  readonly members: readonly string[];
  /** What it is called in `actions.<name>`; undefined when it says nothing. */
  readonly result?: string;
  compile(config: ConfigReader): CompiledAction;
}
