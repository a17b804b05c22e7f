// Functions that see the request, or the answer, without its being written: `getReqHeader('x')`.

import { type CelFunc, type CelMap, CelScalar, celFunc, isCelList, isCelMap } from '@bufbuild/cel';
import { noCookie } from './cookies.ts';
import { COOKIE, COOKIES_BY_NAME, TEXTS, TEXTS_BY_NAME } from './variable.ts';

const { STRING, BOOL } = CelScalar;

/** Functions, and for each the name of the variable that it sees, which is its first argument. */
export interface ContextualFunctions {
  functions: CelFunc[];
  contextual: Record<string, string>;
}

export const requestFunctions = joinFunctions(
  lists('getReqHeader', 'hasReqHeader', 'req.headers'),
  lists('getQueryParam', 'hasQueryParam', 'req.url.query_params'),
  cookies('getReqCookie', 'hasReqCookie', 'req.cookies'),
);

/** What `res` adds to it. */
export const responseFunctions = joinFunctions(
  lists('getResHeader', 'hasResHeader', 'res.headers'),
  cookies('getResCookie', 'hasResCookie', 'res.cookies'),
);

/** All values, in order; an empty list when there is none. */
function lists(get: string, has: string, variable: string): ContextualFunctions {
  return {
    functions: [
      celFunc(get, [TEXTS_BY_NAME, STRING], TEXTS, (map: CelMap, name) => {
        const values = map.get(name);
        return isCelList(values) ? values : [];
      }),
      celFunc(has, [TEXTS_BY_NAME, STRING], BOOL, (map: CelMap, name) => map.has(name)),
    ],
    contextual: { [get]: variable, [has]: variable },
  };
}

/** The first cookie of a name; one with an empty value when there is none. */
function cookies(get: string, has: string, variable: string): ContextualFunctions {
  return {
    functions: [
      celFunc(get, [COOKIES_BY_NAME, STRING], COOKIE, (map: CelMap, name) => {
        const known = map.get(name);
        const first = isCelList(known) ? known.get(0) : undefined;
        return isCelMap(first) ? first : noCookie(name);
      }),
      celFunc(has, [COOKIES_BY_NAME, STRING], BOOL, (map: CelMap, name) => map.has(name)),
    ],
    contextual: { [get]: variable, [has]: variable },
  };
}

export function joinFunctions(...sets: readonly ContextualFunctions[]): ContextualFunctions {
  return {
    functions: sets.flatMap((set) => set.functions),
    contextual: Object.assign({}, ...sets.map((set) => set.contextual)),
  };
}
