// The interface of an action kind: how it reads its config, and what it does.

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
 * Reads the config of one action. A mistake is reported with its path and its error number, and the reader returns a
 * value of the expected type instead, so that one pass finds all mistakes.
 */
export interface ConfigReader {
  readonly phase: PolicyPhase;
  readonly owner: ModuleOwner;
  readonly environment: ModuleEnvironment;
  /** Where the config is in the policy, as in `on_http_request[0].actions[1].config`. */
  readonly place: string;
  /** Whether the member is present and not null. */
  has(name: string): boolean;
  /** The unchecked value of a member; undefined when it is missing or null. */
  raw(name: string): unknown;
  /** Reports a mistake. @param path the member, as in `url` or `issuer.allow_list[0]`; '' for the whole config. */
  problem(path: string, number: number, message: string): void;
  /** A text. Its limits are bytes of UTF-8. A missing member without a default is a mistake. */
  text(name: string, limits?: { max?: number; default?: string }): string;
  integer(name: string, limits: { min: number; max: number; default?: number }): number;
  number(name: string, limits: { min: number; max: number; default?: number }): number;
  flag(name: string, defaultValue: boolean): boolean;
  choice<T extends string>(name: string, values: readonly T[], defaultValue?: T): T;
  /** A duration such as `10s`, `1m30s` or `250ms`, in milliseconds. */
  duration(name: string, limits: { min: number; max: number; default?: number }): number;
  texts(name: string, limits: { min: number; max: number }): string[];
  template(name: string, limits?: { style?: TemplateStyle; max?: number; default?: string }): Template;
  /** A list of templates. */
  templates(name: string, limits: { min: number; max: number; style?: TemplateStyle }): Template[];
  /** Header fields by name, as in `{ "x-a": "…${…}" }`. Names are checked; framing fields and User-Agent are refused. */
  headers(name: string, limits: { min: number; max: number }): { name: string; value: Template }[];
  /** A CEL expression outside of templates. */
  expression(path: string, text: unknown): Expression;
  /** Compiles a text that the caller has read as a template. */
  compile(path: string, text: unknown, style?: TemplateStyle): Template;
  /** A reader for a nested object, such as `issuer`; undefined when it is missing. */
  nested(name: string): ConfigReader | undefined;
  /** Readers for a list of objects. */
  list(name: string, limits: { min: number; max: number }): ConfigReader[];
}

/** The run of an action for one request or connection. */
export interface ActionRun {
  readonly phase: PolicyPhase;
  readonly bindings: Bindings;
  /** The current request; undefined in `on_tcp_connect`. */
  readonly exchange: HttpExchange | undefined;
  /** The connection; undefined in the HTTP phases. */
  readonly connection: NewConnection | undefined;
  /** Sets the variable `actions.<name>`. Members are in snake case. */
  result(name: string, value: Record<string, CelInput>): void;
  /** Sets the variable `vars.<name>`. */
  variable(name: string, value: CelInput): void;
}

/** The result of an action. In `on_tcp_connect` a connection can be closed or forwarded; there are no responses. */
export type ActionVerdict = Verdict | CloseConnection | ForwardToEndpoint;

/** Something that is allowed, and hardly meant. */
export interface PolicyWarning {
  /** The member, as in `headers.x-visitor`; of a whole policy, as in `on_http_request[0].actions[1].config.headers.x-visitor`. */
  path: string;
  /** To be read after the path. */
  message: string;
}

/** An action of a compiled policy. */
export interface CompiledAction {
  /** Whether it always ends the run, so that no action after it can run. */
  readonly isTerminal: boolean;
  /** Whether it uses the request's path itself, besides its templates and expressions. */
  readonly readsPath?: boolean;
  /** The internal endpoint that it forwards to, or asks; left out when there is none, or the name is computed for each request. */
  readonly leadsTo?: string;
  /**
   * Who serves the visitors whose run it ends: the internal endpoint with this URL, or `self`, the policy itself, also where the URL is
   * computed for each of them. Left out: it serves nobody, as one that lets visitors pass or turns them away.
   */
  readonly servedBy?: string;
  /** Whether it terminates the visitor's TLS. */
  readonly endsTls?: boolean;
  /** Whether it asks a server that the policy chooses while it runs. */
  readonly asksServers?: boolean;
  /** The OpenID Connect issuer at which visitors sign in. */
  readonly issuer?: string;
  /** The domain whose hosts share visitors' sessions. */
  readonly cookieDomain?: string;
  readonly warnings?: readonly PolicyWarning[];
  /** Runs the action. */
  run(run: ActionRun): ActionVerdict | Promise<ActionVerdict>;
  /**
   * Answers requests for the gateway's own paths, such as that of a log-in, before any rule runs: the rule of the action may not be for
   * them. Undefined: it is another path, or belongs to another sign-in of the same host.
   */
  answerOwnPath?(run: ActionRun): ActionVerdict | Promise<ActionVerdict>;
  /** Called with the upstream's outcome, when the action has let a request pass. */
  onOutcome?(exchange: HttpExchange, outcome: number | 'failed' | 'unasked'): void;
}

/** A kind of action. */
export interface ActionKind {
  /** Its type in policies. The secret members of each type are listed in `policy-secrets.ts`. */
  readonly type: PolicyActionType;
  /** Its older type names. */
  readonly aliases?: readonly PolicyActionType[];
  /** The phases in which it can run. */
  readonly phases: readonly PolicyPhase[];
  /** The protocols of endpoints that can have it; all when left out. */
  readonly protos?: readonly string[];
  /** The members of its config. */
  readonly members: readonly string[];
  /** The name of its variable `actions.<name>`; undefined when it sets none. */
  readonly result?: string;
  /** Reads the config and compiles it. */
  compile(config: ConfigReader): CompiledAction;
}
