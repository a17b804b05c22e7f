// The enum of the codes that `extensions.problems` of errors have.

import { problemCodes } from '../errors/problem-codes.ts';
import { builder } from './builder.ts';

/** No field has it: it is in the schema so that clients know all codes. */
builder.enumType('ProblemCode', {
  description:
    'What is wrong with a member of an input: the `code` of each of the `problems` in the `extensions` of an error, beside its ' +
    '`path`, from the argument on, as `["input", "acl", 0]`, and its `message`. No field has this type: it is here for clients that ' +
    'are generated. Words in braces are replaced in messages.',
  values: Object.fromEntries(
    problemCodes.map(({ code, number, text }) => [
      code,
      { description: `The error \`ERR_GATEWAY_${number}\`: ${text}` },
    ]),
  ),
});
