// Compiles the rules of a policy, and reports mistakes beyond their shape.

import type { ModuleEnvironment, ModuleOwner } from '../../http/module.ts';
import { logAction } from '../actions/log.ts';
import { actionKind, unknownAction } from '../actions/registry.ts';
import { CelError } from '../cel/errors.ts';
import { compileCondition } from '../cel/expression.ts';
import { vocabularyOf } from '../cel/variables/phase-vocabulary.ts';
import { PATH_VARIABLES } from '../cel/variables/url.ts';
import type { Bindings, PolicyPhase } from '../cel/vocabulary.ts';
import type { PolicyRule, RuleCondition, RuleStep } from '../run/phase-run.ts';
import type { ActionKind, CompiledAction } from '../settings/action-kind.ts';
import { SettingsReader } from '../settings/config-reader.ts';
import { collectUses, type PhaseContext, type SecretUse } from '../settings/phase-context.ts';
import { PROBLEM, type Problems } from '../settings/problems.ts';

/** A rule whose shape `checkPolicy` has validated. */
export interface RuleSource {
  name?: string;
  expressions?: string[];
  actions: { type: string; config?: Record<string, unknown> | null }[];
}

/** The owner of the rules, their environment, and the list of mistakes. */
export interface CompileContext {
  owner: ModuleOwner;
  environment: ModuleEnvironment;
  problems: Problems;
  /** The secrets that the rules read. */
  secrets: SecretUse[];
}

/** Compiles the rules of a phase. @param key the name of the phase in the policy, for the paths of mistakes. */
export function compileRules(
  sources: readonly RuleSource[],
  key: string,
  phase: PolicyPhase,
  of: CompileContext,
): PolicyRule[] {
  const vocabulary = vocabularyOf(phase, of.owner.proto);
  let endedBy: string | undefined;
  return sources.map((source, index) => {
    const reading: PhaseContext = { ...of, phase, vocabulary, variables: new Set() };
    const path = `${key}[${index}]`;
    if (endedBy)
      of.problems.report(path, PROBLEM.unreachable, `is never reached: ${endedBy} ends the phase for everybody`);
    const place = source.name ? `rule "${source.name}" (${path})` : `rule ${path}`;
    const conditions = (source.expressions ?? []).map((text, i) =>
      compileRuleCondition(text, `${path}.expressions[${i}]`, reading),
    );
    const steps = compileSteps(source.actions, `${path}.actions`, place, reading);
    if (conditions.length === 0 && steps.some(({ action }) => action.isTerminal)) endedBy ??= path;
    const readsPath =
      steps.some(({ action }) => action.readsPath) || PATH_VARIABLES.some((name) => reading.variables.has(name));
    return { phase, index, name: source.name, conditions, steps, place, readsPath };
  });
}

function compileRuleCondition(text: string, path: string, context: PhaseContext): RuleCondition {
  const { vocabulary, problems } = context;
  try {
    return collectUses(context, path, compileCondition(text, vocabulary));
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    problems.report(path, PROBLEM.expression, `cannot be read at character ${error.position + 1}: ${error.message}`);
    return { text, test: (_: Bindings) => false };
  }
}

function compileSteps(actions: RuleSource['actions'], at: string, place: string, reading: PhaseContext): RuleStep[] {
  let endedBy: string | undefined;
  return actions.flatMap(({ type, config }, index) => {
    const path = `${at}[${index}]`;
    if (endedBy)
      reading.problems.report(path, PROBLEM.unreachable, `is never reached: ${endedBy} before it ends the phase`);
    const kind = kindOf(type, path, reading);
    if (!kind) return [];
    // Variables that only `log` reads do not affect the decision of a policy, so they are not counted.
    const of = kind === logAction ? { ...reading, variables: new Set<string>() } : reading;
    const action = compileAction(kind, `${path}.config`, config ?? {}, of);
    if (action.isTerminal) endedBy ??= type;
    return { type, action, result: kind.result, place: `${place}, action ${type}`, path };
  });
}

function kindOf(type: string, path: string, { phase, owner, problems }: PhaseContext): ActionKind | undefined {
  const kind = actionKind(type);
  if (!kind) problems.report(`${path}.type`, PROBLEM.unknownAction, unknownAction(type));
  else if (!kind.phases.includes(phase))
    problems.report(`${path}.type`, PROBLEM.phase, `${type} is for ${kind.phases.join(' and ')}, not for ${phase}`);
  else if (kind.protos && !kind.protos.includes(owner.proto))
    problems.report(
      `${path}.type`,
      PROBLEM.protocol,
      `${type} is for endpoints of ${kind.protos.join(' and ')}, and this one is ${owner.proto}`,
    );
  else return kind;
  return undefined;
}

function compileAction(
  kind: ActionKind,
  path: string,
  config: Record<string, unknown>,
  reading: PhaseContext,
): CompiledAction {
  const reader = new SettingsReader(reading, path, config, kind);
  const action = kind.compile(reader);
  reader.finish();
  return action;
}
