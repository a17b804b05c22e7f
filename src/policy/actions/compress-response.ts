// `compress-response`: encodes the answer's body in a way that the visitor understands.

import { compressResponse } from '../../http/compression.ts';
import type { ContentCoding } from '../../http/exchange.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

/** In the order of preference. */
const ALGORITHMS = ['gzip', 'deflate', 'br', 'compress'];

export const compressResponseAction: ActionKind = {
  type: 'compress-response',
  phases: ['on_http_response'],
  members: ['algorithms'],
  result: 'compress',
  compile(config) {
    const named = config.texts('algorithms', { min: config.has('algorithms') ? 1 : 0, max: ALGORITHMS.length });
    named.forEach((name, i) => {
      if (!ALGORITHMS.includes(name))
        config.problem(`algorithms[${i}]`, PROBLEM.choice, `must be one of ${ALGORITHMS.join(', ')}`);
      else if (named.indexOf(name) < i) config.problem(`algorithms[${i}]`, PROBLEM.duplicate, 'is named twice');
    });
    const codings = (named.length > 0 ? named : ALGORITHMS).filter(isCoding);
    return {
      isTerminal: false,
      run({ exchange, result }) {
        if (!exchange) return undefined;
        const { alreadyCompressed, coding } = compressResponse(exchange, codings);
        result('compress', { already_compressed: alreadyCompressed, negotiated_algorithm: coding ?? '' });
        return undefined;
      },
    };
  },
};

/** `compress` is known and never chosen: nobody uses it any more. */
const isCoding = (name: string): name is ContentCoding => name !== 'compress';
