// Variables: their types, and how their values are read when an expression uses them.

import { type CelInput, CelScalar, type CelType, listType, mapType, objectType } from '@bufbuild/cel';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { HttpExchange, VisitorConnection } from '../../../http/exchange.ts';
import type { ModuleEnvironment } from '../../../http/module.ts';
import { timestamp } from './times.ts';

/** The state of a policy during its run for one request or connection. */
export interface PolicyState {
  /** The variables of `set-vars`. */
  readonly vars: ReadonlyMap<string, CelInput>;
  /** The results of actions, by their names in `actions.<name>`. */
  readonly actions: ReadonlyMap<string, Readonly<Record<string, CelInput>>>;
}

/** The input of an evaluation. */
export interface EvaluationContext {
  readonly connection: VisitorConnection;
  readonly state: PolicyState;
  readonly environment: Pick<ModuleEnvironment, 'time' | 'locate' | 'secrets'>;
}

export interface HttpEvaluationContext extends EvaluationContext {
  readonly connection: HttpExchange;
}

export interface CelVariable<V extends EvaluationContext = EvaluationContext> {
  readonly type: CelType;
  read(visit: V): CelInput;
}

/** Variables by their full names. */
export type CelVariables<V extends EvaluationContext = EvaluationContext> = Readonly<Record<string, CelVariable<V>>>;

const { STRING, INT, BOOL, DYN } = CelScalar;
export const TEXTS = listType(STRING);
export const TEXT_BY_NAME = mapType(STRING, STRING);
export const TEXTS_BY_NAME = mapType(STRING, TEXTS);
export const COOKIE = mapType(STRING, DYN);
export const COOKIES_BY_NAME = mapType(STRING, listType(COOKIE));
export const TEXTS_BY_NAMES = mapType(STRING, TEXT_BY_NAME);
export const BY_NAME = mapType(STRING, DYN);
const MOMENT = objectType(TimestampSchema);

export const textVariable = <V extends EvaluationContext>(read: (visit: V) => string): CelVariable<V> => ({
  type: STRING,
  read,
});

export const boolVariable = <V extends EvaluationContext>(read: (visit: V) => boolean): CelVariable<V> => ({
  type: BOOL,
  read,
});

/** An integer variable. CEL integers are `bigint`; a `number` would be a double. */
export const intVariable = <V extends EvaluationContext>(read: (visit: V) => number): CelVariable<V> => ({
  type: INT,
  read: (visit) => BigInt(read(visit)),
});

/** A timestamp variable. @param read returns milliseconds since 1970. */
export const timestampVariable = <V extends EvaluationContext>(read: (visit: V) => number): CelVariable<V> => ({
  type: MOMENT,
  read: (visit) => timestamp(read(visit)),
});

export const textListVariable = <V extends EvaluationContext>(
  read: (visit: V) => readonly string[],
): CelVariable<V> => ({ type: TEXTS, read });

export const typedVariable = <V extends EvaluationContext>(
  type: CelType,
  read: (visit: V) => CelInput,
): CelVariable<V> => ({ type, read });
