// What REST, events, downloads and filters in CEL call the values of enums: GraphQL has them in capitals, the specification in lower case.

import type { GraphQLEnumType } from 'graphql';
import type { ErrorName } from './errors/errors.ts';

/** An enum as REST has it, where its words are in lower case. */
interface RestEnum {
  /** Whether OpenAPI has it as a text. */
  isText?: boolean;
  /** What another word is answered with; with an error for all enums when left out. */
  refusal?: ErrorName;
}

/** The `extensions` of an enum whose values REST has in lower case. */
export const inLowerCase = (options: RestEnum = {}) => ({ inLowerCase: options });

/** How REST has an enum; undefined where it has the words of GraphQL. */
export function restEnumOf({ extensions }: GraphQLEnumType): RestEnum | undefined {
  return extensions.inLowerCase as RestEnum | undefined;
}

/** What REST calls a value of an enum. @param name in GraphQL. */
export function restWord(type: GraphQLEnumType, name: string): string {
  return restEnumOf(type) ? name.toLowerCase() : name;
}
