// Evaluates expressions over the variables alone: what the gateway's own compiler adds is not in it.

import { type CelEnv, type CelInput, type CelValue, celEnv, isCelList, isCelMap, parse, plan } from '@bufbuild/cel';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Duration, type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type About, bindingsOf } from '../../../src/policy/cel/variables/bindings.ts';
import { vocabularyOf } from '../../../src/policy/cel/variables/phase-vocabulary.ts';
import type { PolicyPhase } from '../../../src/policy/cel/vocabulary.ts';
import { environmentOf } from '../exchange-support.ts';

export const newState = () => ({
  vars: new Map<string, CelInput>(),
  actions: new Map<string, Record<string, CelInput>>(),
});

export interface Question {
  phase?: PolicyPhase;
  state?: ReturnType<typeof newState>;
}

const environments = new Map<PolicyPhase, CelEnv>();

function environment(phase: PolicyPhase): CelEnv {
  const { variables, functions } = vocabularyOf(phase, 'https');
  const made = environments.get(phase) ?? celEnv({ variables, funcs: [...functions] });
  environments.set(phase, made);
  return made;
}

/** The value of an expression, as CEL has it. @throws what its evaluation fails with. */
export function evaluate(expression: string, about: About, question: Question = {}): CelValue {
  const { phase = 'on_http_request', state = newState() } = question;
  const result = plan(environment(phase), parse(expression))(bindingsOf(about, phase, state, environmentOf()));
  if (result instanceof Error) throw result;
  return result as CelValue;
}

/** The same, as JavaScript has it: timestamps as ISO texts, durations in seconds. */
export function plainly(expression: string, about: About, question?: Question): unknown {
  return plain(evaluate(expression, about, question));
}

export function plain(value: CelValue): unknown {
  if (isCelList(value)) return [...value].map(plain);
  if (isCelMap(value)) return Object.fromEntries([...value].map(([key, one]) => [String(key), plain(one)]));
  if (!isReflectMessage(value)) return value;
  const isTime = value.desc.typeName.endsWith('Timestamp');
  return isTime ? timestampDate(value.message as Timestamp).toISOString() : Number((value.message as Duration).seconds);
}
