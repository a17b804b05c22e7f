// What a trial run of a traffic policy shows.

import type {
  DryRunAction,
  DryRunExpression,
  DryRunField,
  DryRunForwarded,
  DryRunOutcome,
  DryRunResult,
  DryRunReturned,
  DryRunRule,
} from '../../../policy/dry-run/dry-run-types.ts';
import type { PolicyWarning as Warning } from '../../../policy/settings/action-kind.ts';
import type { PolicyProblem as Problem } from '../../../protocol/policy/policy-shape.ts';
import { builder } from '../../builder/builder.ts';

const PolicyProblem = builder.objectRef<Problem>('PolicyProblem').implement({
  description: 'One thing that is wrong with a policy.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Where, as `on_http_request[0].actions[1].config.url`; empty for the document as a whole.',
    }),
    message: t.exposeString('message', { description: 'What would be right, to be read behind the path.' }),
    errorCode: t.string({
      description: 'The code that an upload of the policy would be refused with.',
      resolve: ({ number }) => `ERR_GATEWAY_${number}`,
    }),
  }),
});

const PolicyWarning = builder.objectRef<Warning>('PolicyWarning').implement({
  description: 'One thing in a policy that is allowed, and hardly meant.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Where, as `on_http_request[0].actions[1].config.headers.x-visitor`.',
    }),
    message: t.exposeString('message', {
      description: 'What it does, and what would be better, to be read behind the path.',
    }),
  }),
});

const EvaluatedPhase = builder.enumType('EvaluatedPhase', {
  description: 'When a rule is looked at.',
  values: {
    ON_TCP_CONNECT: { value: 'on_tcp_connect', description: 'When a connection is accepted.' },
    ON_HTTP_REQUEST: { value: 'on_http_request', description: 'Before the upstream is asked.' },
    ON_HTTP_RESPONSE: { value: 'on_http_response', description: 'When there is an answer.' },
  } as const,
});

const EvaluatedRuleState = builder.enumType('EvaluatedRuleState', {
  description: 'What became of a rule.',
  values: {
    MATCHED: { value: 'matched', description: 'All of its expressions hold, and its actions were done.' },
    UNMATCHED: { value: 'unmatched', description: 'One of its expressions does not hold.' },
    FAILED: { value: 'failed', description: 'An expression or an action failed: the visitor is refused.' },
    UNREACHED: { value: 'unreached', description: 'An action before it ended the phase.' },
  } as const,
});

const EvaluatedExpression = builder.objectRef<DryRunExpression>('EvaluatedExpression').implement({
  description: 'An expression of a rule, and what it gave. After the first that does not hold, none is looked at.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The expression.' }),
    value: t.expose('value', {
      type: 'Json',
      nullable: true,
      description: 'What it gave; null when it was not looked at, or failed.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
  }),
});

const EvaluatedAction = builder.objectRef<DryRunAction>('EvaluatedAction').implement({
  description: 'An action that was done.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Its type, as `add-headers`.' }),
    effects: t.exposeStringList('effects', { description: 'What it does, a line each.' }),
    result: t.expose('result', {
      type: 'Json',
      nullable: true,
      description: 'What later expressions see of it in `actions`; null when it says nothing there.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
  }),
});

const EvaluatedRule = builder.objectRef<DryRunRule>('EvaluatedRule').implement({
  description: 'A rule of a policy, and what became of it.',
  fields: (t) => ({
    phase: t.expose('phase', { type: EvaluatedPhase, description: 'When it is looked at.' }),
    index: t.exposeInt('index', { description: 'Its place within its phase, from 0.' }),
    name: t.exposeString('name', { nullable: true, description: 'What it is called; null when it has no name.' }),
    state: t.expose('state', { type: EvaluatedRuleState, description: 'What became of it.' }),
    expressions: t.expose('expressions', { type: [EvaluatedExpression], description: 'Its expressions.' }),
    actions: t.expose('actions', { type: [EvaluatedAction], description: 'The actions that were done.' }),
  }),
});

const HeaderField = builder.objectRef<DryRunField>('HeaderField').implement({
  description: 'A header field.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the field.' }),
    value: t.exposeString('value', { description: 'The value of the field.' }),
  }),
});

const ForwardedRequest = builder.objectRef<DryRunForwarded>('ForwardedRequest').implement({
  description: 'A request as the upstream gets it.',
  fields: (t) => ({
    method: t.exposeString('method', { description: 'Its method.' }),
    url: t.exposeString('url', { description: 'Its whole URL.' }),
    headers: t.expose('headers', { type: [HeaderField], description: 'Its header fields.' }),
    internal: t.exposeString('internal', {
      nullable: true,
      description: 'The URL of the internal endpoint that gets it; null when the endpoint itself does.',
    }),
  }),
});

const FinalResponse = builder.objectRef<DryRunReturned>('FinalResponse').implement({
  description: 'An answer as the visitor gets it.',
  fields: (t) => ({
    status: t.exposeInt('status', { description: 'Its status.' }),
    headers: t.expose('headers', { type: [HeaderField], description: 'Its header fields.' }),
    body: t.exposeString('body', { nullable: true, description: 'Its body; null when that is the upstream’s own.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The code of the gateway’s own error that it is, `ERR_GATEWAY_…`.',
    }),
  }),
});

const OutcomeKind = builder.enumType('EvaluatedOutcomeKind', {
  description: 'What becomes of a request.',
  values: {
    FORWARDED: { value: 'forwarded', description: 'The upstream is asked.' },
    ANSWERED: { value: 'answered', description: 'The policy answers it.' },
    REFUSED: { value: 'refused', description: 'The visitor is turned away.' },
    CLOSED: { value: 'closed', description: 'The connection is closed without an answer.' },
  } as const,
});

const EvaluatedOutcome = builder.objectRef<DryRunOutcome>('EvaluatedOutcome').implement({
  description: 'What becomes of a request, once all rules were run.',
  fields: (t) => ({
    kind: t.expose('kind', { type: OutcomeKind, description: 'What becomes of it.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the visitor is turned away, as the log has it.',
    }),
    request: t.expose('request', {
      type: ForwardedRequest,
      nullable: true,
      description: 'What goes to the upstream; null when nothing does.',
    }),
    response: t.expose('response', {
      type: FinalResponse,
      nullable: true,
      description: 'What comes back; null when nothing does, or the answer of the upstream was not described.',
    }),
  }),
});

export const PolicyEvaluation = builder.objectRef<DryRunResult>('PolicyEvaluation').implement({
  description: 'What a traffic policy would do.',
  fields: (t) => ({
    problems: t.field({
      type: [PolicyProblem],
      description: 'What is wrong with the policy, up to 20 things; then nothing was run. Empty when it can be used.',
      resolve: ({ problems }) => [...problems],
    }),
    warnings: t.field({
      type: [PolicyWarning],
      description:
        'What is allowed in the policy, and hardly meant, up to 20 things. The log of the gateway has them, too.',
      resolve: ({ warnings }) => [...warnings],
    }),
    rules: t.expose('rules', { type: [EvaluatedRule], description: 'Every rule, in the order of phases.' }),
    notes: t.expose('notes', { type: ['Json'], description: 'What the `log` actions would write into the log.' }),
    outcome: t.expose('outcome', {
      type: EvaluatedOutcome,
      nullable: true,
      description: 'What becomes of the request; null when the policy cannot be used.',
    }),
  }),
});
