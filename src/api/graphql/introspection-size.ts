// How large the answer to an introspection is: exactly, as the schema itself is walked. A list of it counts at its real
// length.

import {
  type FieldNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  type GraphQLType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isType,
  isWrappingType,
  Kind,
} from 'graphql';

/** What introspection shows: the schema and its parts. */
type SchemaPart =
  | GraphQLSchema
  | GraphQLType
  | GraphQLDirective
  | GraphQLField<unknown, unknown>
  | GraphQLArgument
  | GraphQLInputField
  | GraphQLEnumValue;

/** Parts of the schema, each with how often the answer shows it. */
export class SchemaParts {
  readonly #schema: GraphQLSchema;
  readonly #parts: ReadonlyMap<SchemaPart, number>;
  readonly #selections = new Map<string, SchemaParts>();
  /** How many these are. */
  readonly count: number;

  constructor(schema: GraphQLSchema, parts: ReadonlyMap<SchemaPart, number>) {
    this.#schema = schema;
    this.#parts = parts;
    let count = 0;
    for (const times of parts.values()) count += times;
    this.count = count;
  }

  /** What a field of introspection shows of all of these together. It is looked up once, however often it is asked for. */
  selectedBy(field: string): SchemaParts {
    const known = this.#selections.get(field);
    if (known) return known;
    const found = new Map<SchemaPart, number>();
    for (const [part, times] of this.#parts)
      for (const inner of partsOf(this.#schema, part, field)) found.set(inner, (found.get(inner) ?? 0) + times);
    const selected = new SchemaParts(this.#schema, found);
    this.#selections.set(field, selected);
    return selected;
  }
}

/** What `__type` of the root shows: the type that it names. One that a variable names may be any. */
export function typeArgumentParts(schema: GraphQLSchema, { arguments: given }: FieldNode): SchemaParts {
  const value = given?.find((argument) => argument.name.value === 'name')?.value;
  const any = Object.values(schema.getTypeMap());
  const types = value?.kind === Kind.STRING ? any.filter(({ name }) => name === value.value) : any;
  return new SchemaParts(schema, new Map(types.map((type) => [type, 1])));
}

function partsOf(schema: GraphQLSchema, part: SchemaPart, field: string): readonly SchemaPart[] {
  if (part === schema) return ofSchema(schema, field);
  if (isType(part)) return ofType(schema, part, field);
  if (field === 'args') return 'args' in part ? part.args : [];
  return field === 'type' && 'type' in part ? [part.type] : [];
}

function ofSchema(schema: GraphQLSchema, field: string): readonly SchemaPart[] {
  const one = (type: SchemaPart | null | undefined) => (type ? [type] : []);
  switch (field) {
    case 'types':
      return Object.values(schema.getTypeMap());
    case 'directives':
      return schema.getDirectives();
    case 'queryType':
      return one(schema.getQueryType());
    case 'mutationType':
      return one(schema.getMutationType());
    case 'subscriptionType':
      return one(schema.getSubscriptionType());
    default:
      return [];
  }
}

function ofType(schema: GraphQLSchema, type: GraphQLType, field: string): readonly SchemaPart[] {
  switch (field) {
    case 'fields':
      return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
    case 'inputFields':
      return isInputObjectType(type) ? Object.values(type.getFields()) : [];
    case 'enumValues':
      return isEnumType(type) ? type.getValues() : [];
    case 'interfaces':
      return isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
    case 'possibleTypes':
      return isAbstractType(type) ? schema.getPossibleTypes(type) : [];
    case 'ofType':
      return isWrappingType(type) ? [type.ofType] : [];
    default:
      return [];
  }
}
