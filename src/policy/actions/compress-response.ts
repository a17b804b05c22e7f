// The action `compress-response`: compresses the body of a response with a coding that the visitor accepts.

import { compressResponse } from '../../http/compression.ts';
import type { ContentCoding } from '../../http/exchange.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

/** The algorithms in the order of preference. */
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

/** Whether the gateway supports an algorithm. `compress` is a valid name that is never selected, as no client uses it. */
const isCoding = (name: string): name is ContentCoding => name !== 'compress';
