// Functions with an implicit argument from the request or the response, such as `getReqHeader('x')`.

import { type CelFunc, type CelMap, CelScalar, celFunc, isCelList, isCelMap } from '@bufbuild/cel';
import { SECRET_FUNCTION, SECRETS_VARIABLE } from '../secret-names.ts';
import { noCookie } from './cookies.ts';
import { COOKIE, COOKIES_BY_NAME, TEXTS, TEXTS_BY_NAME, TEXTS_BY_NAMES } from './variable.ts';

const { STRING, BOOL } = CelScalar;

/** Functions, and for each the name of the variable that becomes its first argument. */
export interface ContextualFunctions {
  functions: CelFunc[];
  contextual: Record<string, string>;
}

export const requestFunctions = joinFunctions(
  lists('getReqHeader', 'hasReqHeader', 'req.headers'),
  lists('getQueryParam', 'hasQueryParam', 'req.url.query_params'),
  cookies('getReqCookie', 'hasReqCookie', 'req.cookies'),
);

/** The functions of all phases. Without such a secret, the expression fails. */
export const commonFunctions: ContextualFunctions = {
  functions: [
    celFunc(SECRET_FUNCTION, [TEXTS_BY_NAMES, STRING, STRING], STRING, (vaults: CelMap, vault, name) => {
      const secrets = vaults.get(vault);
      const value = isCelMap(secrets) ? secrets.get(name) : undefined;
      if (typeof value === 'string') return value;
      throw new Error(`there is no secret "${name}" in a vault "${vault}"`);
    }),
  ],
  contextual: { [SECRET_FUNCTION]: SECRETS_VARIABLE },
};

/** The functions of the response phase. */
export const responseFunctions = joinFunctions(
  lists('getResHeader', 'hasResHeader', 'res.headers'),
  cookies('getResCookie', 'hasResCookie', 'res.cookies'),
);

/** Functions for all values of a name, in order; the list is empty when there is none. */
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

/** Functions for the first cookie of a name; it has an empty value when there is none. */
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
