// The action `request-body-find-replace`: replaces text in the body of a request.

import { decodeContent } from '../../../http/content-decoding.ts';
import { readReplacements, SEARCHED_MAX } from '../../bodies/replacements.ts';
import { replaceInBody, replacementsResult } from '../../bodies/text-body.ts';
import type { ActionKind, ActionVerdict } from '../../settings/action-kind.ts';

const RESULT = 'request_body_find_replace';

export const requestBodyFindReplaceAction: ActionKind = {
  type: 'request-body-find-replace',
  phases: ['on_http_request'],
  members: ['replacements'],
  result: RESULT,
  compile(config) {
    const replacements = readReplacements(config);
    return {
      isTerminal: false,
      async run({ exchange, bindings, result }): Promise<ActionVerdict> {
        if (!exchange) return undefined;
        const { request, signal } = exchange;
        let sent: Buffer | undefined;
        try {
          sent = await request.body();
        } catch (error) {
          if (signal.aborted) return { kind: 'close', reason: 'the visitor has gone' };
          throw error;
        }
        if (!sent) return { kind: 'refuse', error: 'bodyNotSearched', reason: 'the body has more than 1 MiB' };
        const codings = request.fields.all('content-encoding').join(',');
        const body = await decodeContent(sent, codings, SEARCHED_MAX);
        if (typeof body === 'string') return { kind: 'refuse', error: 'bodyNotSearched', reason: `the body ${body}` };
        const replaced = await replaceInBody(body, replacements, bindings);
        if (typeof replaced === 'string') return { kind: 'refuse', error: 'policyFailed', reason: replaced };
        // A body in which nothing was found goes on as it came, with its content coding.
        if (replaced.body) request.replaceBody(replaced.body);
        result(RESULT, replacementsResult(replaced.found));
        return undefined;
      },
    };
  },
};
