// The action `sse-find-replace`: replaces text in the events of an event stream, as they are sent.

import { decodingTransforms } from '../../../http/body-transform.ts';
import type { HttpResponse } from '../../../http/exchange.ts';
import type { ModuleRefusal } from '../../../http/module.ts';
import { changeEvent, EVENT_FIELDS, type EventField } from '../../bodies/event-fields.ts';
import { EventStreamTransform } from '../../bodies/event-stream.ts';
import {
  type ComputedReplacement,
  computeReplacements,
  readReplacement,
  replaceComputed,
  SearchTurns,
} from '../../bodies/replacements.ts';
import { presentCodingsOf } from '../../bodies/text-body.ts';
import type { Template } from '../../cel/template.ts';
import type { Bindings } from '../../cel/vocabulary.ts';
import type { ActionKind, ActionVerdict, ConfigReader } from '../../settings/action-kind.ts';
import { PROBLEM } from '../../settings/problems.ts';

const ENTRIES_MAX = 10;
const PARTIAL_CONTENT = 206;

export const sseFindReplaceAction: ActionKind = {
  type: 'sse-find-replace',
  phases: ['on_http_response'],
  members: ['replacements'],
  compile(config) {
    const entries = config.list('replacements', { min: 1, max: ENTRIES_MAX });
    const replacements = entries.map((entry) => ({ field: readField(entry), ...readReplacement(entry) }));
    return {
      isTerminal: false,
      async run({ exchange, bindings }): Promise<ActionVerdict> {
        const { response } = exchange ?? {};
        if (!response || response.bodyLength === 0 || !isEventStream(response)) return undefined;
        if (response.status === PARTIAL_CONTENT) return refused('the response is a part of something');
        const decoders = decodingTransforms(presentCodingsOf(response));
        if (typeof decoders === 'string') return refused(`the body ${decoders}`);
        const fields = replacements.map(({ field }) => fieldOf(field, bindings));
        const computed = computeReplacements(replacements, bindings);
        if (fields.includes(undefined)) return failed(`a field is neither ${EVENT_FIELDS.join(' nor ')}`);
        if (typeof computed === 'string') return failed(computed);
        const transform = eventsTransform(computed, fields as EventField[]);
        try {
          for (const each of [...decoders, transform]) await response.transformBody(each);
        } catch (error) {
          return refused((error as Error).message); // Of a response that is there as a whole.
        }
        if (!response.encoding) response.fields.remove('content-encoding');
        return undefined;
      },
    };
  },
};

/** Each value passes the replacements of its field, in order. */
function eventsTransform(replacements: readonly ComputedReplacement[], fields: readonly EventField[]) {
  const turns = new SearchTurns();
  const byField = new Map(
    EVENT_FIELDS.map((field) => [field, replacements.filter((_, index) => fields[index] === field)] as const),
  );
  return new EventStreamTransform((event) =>
    changeEvent(event, async (field, value) => {
      const replaced = await replaceComputed(value, byField.get(field) ?? [], turns);
      if (typeof replaced === 'string') throw new Error(replaced);
      return replaced.text;
    }),
  );
}

function readField(entry: ConfigReader): Template {
  const field = entry.template('field', { max: 100, default: 'data' });
  if (field.constant !== undefined && !isEventField(field.constant))
    entry.problem('field', PROBLEM.choice, `must be one of ${EVENT_FIELDS.join(', ')}`);
  return field;
}

function fieldOf(field: Template, bindings: Bindings): EventField | undefined {
  const name = field.evaluate(bindings);
  return isEventField(name) ? name : undefined;
}

const isEventField = (name: string): name is EventField => (EVENT_FIELDS as readonly string[]).includes(name);

function isEventStream({ fields }: HttpResponse): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(fields.get('content-type') ?? '');
}

const refused = (reason: string): ModuleRefusal => ({ kind: 'refuse', error: 'responseNotSearched', reason });
const failed = (reason: string): ModuleRefusal => ({ kind: 'refuse', error: 'policyFailed', reason });
