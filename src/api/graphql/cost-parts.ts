// Of what the cost of an operation is made up, so that a refusal can name the field that costs most and what would help.

import { type FieldNode, Kind } from 'graphql';

/** The fields that are counted because of one field. */
export interface CostPart {
  cost: number;
  /** What to say of it when it is the largest. */
  readonly reason: (cost: number) => string;
}

/** The cost of one operation. */
export class OperationCost {
  total = 0;
  readonly #parts = new Map<string, CostPart>();
  /** What no list and no heavy field is to blame for. */
  readonly rest: CostPart = { cost: 0, reason: () => 'ask for fewer fields' };

  /** @param key the same for what counts together. */
  part(key: string, reason: CostPart['reason']): CostPart {
    const known = this.#parts.get(key);
    if (known) return known;
    const part = { cost: 0, reason };
    this.#parts.set(key, part);
    return part;
  }

  add(part: CostPart, cost: number): void {
    this.total += cost;
    part.cost += cost;
  }

  /** What costs most, and what would help. */
  advice(): string {
    let largest = this.rest;
    for (const part of this.#parts.values()) if (part.cost > largest.cost) largest = part;
    return largest.reason(largest.cost);
  }
}

/** What a page or another list is said to cost. @param size how many objects it counts as. */
export function listReason({ name: { value: name }, arguments: given = [] }: FieldNode, size: number, isPage: boolean) {
  const chosen = given.find((argument) => argument.name.value === 'first' || argument.name.value === 'last');
  const argument = chosen?.name.value ?? 'first';
  return (cost: number): string => {
    const counted = `what is below ${name} counts as ${cost}`;
    if (!isPage) return `${counted}, as the list counts as ${size} objects: ask for fewer fields in it`;
    if (chosen?.value.kind === Kind.INT)
      return `${counted} with ${argument}: ${size}: ask for fewer with a smaller ${argument}`;
    const why = chosen ? `whose ${argument} is a variable` : 'without first';
    return `${counted}, as a page ${why} counts as ${size} objects: write a smaller ${argument} into the document`;
  };
}

/** What a field is said to cost that does more than others. @param ofArguments how much of its weight is that of arguments. */
export function weightReason({ name: { value: name } }: FieldNode, weight: number, ofArguments: number) {
  return (cost: number): string => {
    const often = cost > weight ? ` each time, together ${cost}` : '';
    const help =
      ofArguments > 0
        ? `${ofArguments} of it for where, filter, search and an order: leave them out, or ask in several requests`
        : 'ask for it in a request of its own';
    return `${name} counts as ${weight}${often}; ${help}`;
  };
}
