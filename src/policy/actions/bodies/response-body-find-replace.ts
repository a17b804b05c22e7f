// The action `response-body-find-replace`: replaces text in the body of a response.

import { decodeContent } from '../../../http/content-decoding.ts';
import type { ModuleRefusal } from '../../../http/module.ts';
import { readReplacements, SEARCHED_MAX } from '../../bodies/replacements.ts';
import { presentCodingsOf, replaceInBody, replacementsResult } from '../../bodies/text-body.ts';
import type { ActionKind, ActionVerdict } from '../../settings/action-kind.ts';

const RESULT = 'response_body_find_replace';
const PARTIAL_CONTENT = 206;

export const responseBodyFindReplaceAction: ActionKind = {
  type: 'response-body-find-replace',
  phases: ['on_http_response'],
  members: ['replacements'],
  result: RESULT,
  compile(config) {
    const replacements = readReplacements(config);
    return {
      isTerminal: false,
      async run({ exchange, bindings, result }): Promise<ActionVerdict> {
        const { response } = exchange ?? {};
        if (!exchange || !response) return undefined;
        if (response.status === PARTIAL_CONTENT) return notSearched('the response is a part of something');
        if ((response.bodyLength ?? 0) > SEARCHED_MAX)
          return notSearched(`the body has more than ${SEARCHED_MAX} bytes`);
        let sent: Buffer | undefined;
        try {
          sent = await response.body();
        } catch (error) {
          if (exchange.signal.aborted) return { kind: 'close', reason: 'the visitor has gone, or upstream' };
          return { kind: 'refuse', error: 'upstreamInvalid', reason: (error as Error).message };
        }
        if (!sent) return notSearched('the body has more than 1 MiB');
        const body = await decodeContent(sent, presentCodingsOf(response), SEARCHED_MAX);
        if (typeof body === 'string') return notSearched(`the body ${body}`);
        const replaced = await replaceInBody(body, replacements, bindings);
        if (typeof replaced === 'string') return { kind: 'refuse', error: 'policyFailed', reason: replaced };
        if (replaced.body) response.replaceBody(replaced.body);
        result(RESULT, replacementsResult(replaced.found));
        return undefined;
      },
    };
  },
};

function notSearched(reason: string): ModuleRefusal {
  return { kind: 'refuse', error: 'responseNotSearched', reason };
}
