// What is wrong with values that are written into a document: the same problems as if they had come in variables.

import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  type ObjectValueNode,
  ProvidedRequiredArgumentsRule,
  TypeInfo,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  validate,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { ApiError, type ErrorName, type ErrorParameters, type InputPath } from '../errors/errors.ts';
import { INPUT_PROBLEMS_MAX } from '../errors/problems.ts';
import { leafExpectation, leafMistake, wrongValue } from './input.ts';

const RULES = [ValuesOfCorrectTypeRule, ProvidedRequiredArgumentsRule];

/**
 * The errors of a document that is not valid. The first of them that is about a value has the problems of all values of the document.
 * It costs as much as the validation, and is for documents that have failed it.
 */
export function withLiteralProblems(
  schema: GraphQLSchema,
  document: DocumentNode,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  const mistakes = validate(schema, document, RULES, { maxErrors: INPUT_PROBLEMS_MAX });
  const known = new Set(mistakes.map(({ message }) => message));
  const at = errors.findIndex(({ message }) => known.has(message));
  const { found, hasMore } = at < 0 ? { found: [], hasMore: false } : literalProblems(schema, document, mistakes);
  if (found.length === 0) return errors;
  return errors.map((error, index) => {
    if (index !== at) return error;
    const { message, nodes, source, positions } = error;
    const originalError = new ApiError('badDocument', { reason: message }, found, hasMore);
    return new GraphQLError(message, { nodes, source, positions, originalError });
  });
}

function literalProblems(schema: GraphQLSchema, document: DocumentNode, mistakes: readonly GraphQLError[]) {
  const walk = new LiteralWalk(mistakes);
  const types = new TypeInfo(schema);
  visit(document, visitWithTypeInfo(types, { Field: (node) => walk.readArguments(node, types) }));
  return { found: walk.found.slice(0, INPUT_PROBLEMS_MAX), hasMore: walk.found.length > INPUT_PROBLEMS_MAX };
}

/** Finds where in the arguments of fields the values stand of which GraphQL says that they are not valid. */
class LiteralWalk {
  readonly found: ApiError[] = [];
  readonly #messages: ReadonlyMap<unknown, string>;

  constructor(mistakes: readonly GraphQLError[]) {
    this.#messages = new Map(mistakes.map(({ nodes, message }) => [nodes?.[0], message]));
  }

  readArguments(node: FieldNode, types: TypeInfo): void {
    for (const argument of types.getFieldDef()?.args ?? []) {
      const given = node.arguments?.find(({ name }) => name.value === argument.name);
      if (given) this.#read(given.value, argument.type, [argument.name]);
      else if (isRequiredArgument(argument)) this.#blame('missingMember', [argument.name]);
    }
  }

  #read(value: ValueNode, type: GraphQLInputType, place: InputPath): void {
    if (value.kind === Kind.VARIABLE) return;
    if (isNonNullType(type)) {
      if (value.kind === Kind.NULL) this.#blame('missingMember', place);
      else this.#read(value, type.ofType, place);
    } else if (isListType(type)) {
      if (value.kind !== Kind.LIST) this.#read(value, type.ofType, place);
      else for (const [index, item] of value.values.entries()) this.#read(item, type.ofType, [...place, index]);
    } else if (isInputObjectType(type) && value.kind === Kind.OBJECT) this.#readObject(value, type, place);
    else {
      const reason = isInputObjectType(type) ? 'it must be an object' : this.#leafMistake(value, type);
      if (reason !== undefined) this.#add(wrongValue(memberAt(place), reason), place);
    }
  }

  /** In a document, some values are told apart that are alike in JSON: a word and a text, 1.0 and 1. */
  #leafMistake(value: ValueNode, type: GraphQLLeafType): string | undefined {
    const message = this.#messages.get(value);
    return (
      leafMistake(type, valueFromASTUntyped(value)) ??
      (message === undefined ? undefined : (leafExpectation(type) ?? message))
    );
  }

  #readObject(object: ObjectValueNode, type: GraphQLInputObjectType, place: InputPath): void {
    const fields = type.getFields();
    for (const field of Object.values(fields)) {
      const given = object.fields.find(({ name }) => name.value === field.name);
      if (given) this.#read(given.value, field.type, [...place, field.name]);
      else if (isRequiredInputField(field)) this.#blame('missingMember', [...place, field.name]);
    }
    for (const { name } of object.fields) {
      if (Object.hasOwn(fields, name.value)) continue;
      const culprit = memberAt([...place, name.value]);
      this.#blame('unknownMember', [...place, name.value], { culprit, known: Object.keys(fields).join(', ') });
    }
  }

  #blame(error: ErrorName, place: InputPath, parameters: ErrorParameters = { member: memberAt(place) }): void {
    this.#add(new ApiError(error, parameters), place);
  }

  #add(error: ApiError, place: InputPath): void {
    error.inputPath = place;
    this.found.push(error);
  }
}

/** What texts call a member: those of `input` are called by their own names. */
function memberAt([argument = '', ...rest]: InputPath): string {
  const [first, ...more] = argument === 'input' ? rest : [argument, ...rest];
  return more.reduce<string>(
    (path, part) => path + (typeof part === 'number' ? `[${part}]` : `.${part}`),
    String(first ?? ''),
  );
}
