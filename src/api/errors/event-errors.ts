// The errors of event destinations and subscriptions.

import { descriptorOf, sinkNames } from '../../events/sinks/index.ts';
import type { SharedTargetError, TargetErrorRow } from '../../events/sinks/target-error.ts';
import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const eventErrors = {
  // Event destinations and subscriptions.
  badFormat: invalid(235, '{member} must be "json".'),
  targetMissing: invalid(5100, '{member} is required: one of {known}.'),
  severalTargets: invalid(5115, '{member} must have exactly one of {known}; this one has {actual}.'),
  targetMemberMissing: invalid(90060, '{member} is required.'),
  targetMemberTooLong: invalid(90061, '{member} must be at most {max} bytes; this one has {actual}.'),
  secretNeeded: invalid(90066, '{member} must be given again, because the target now leads to another receiver.'),
  destinationInUse: conflict(
    5112,
    'The event destination is still used by an event subscription; remove it there first.',
  ),
  unknownDestination: invalid(5103, '{member} must name an event destination of this account.'),
  destinationRepeated: invalid(90067, '{member} occurs twice in the list.'),
  tooManyDestinations: invalid(5126, '{member} may name at most {max} event destinations.'),
  unknownEventType: invalid(238, '{member} must be one of {known}.'),
  eventTypeRepeated: invalid(5127, '{member}: the event type {type} occurs twice.'),
  sourceNotThere: [5125, 404, 'NOT_FOUND', 'The event subscription has no source of this type.'],
  sourceThere: conflict(90068, 'The event subscription already has a source of this type.'),
  fieldsOfAudit: invalid(
    5401,
    '{member} must be empty: {type} is not a traffic event, and is always delivered completely.',
  ),
  filterOfAudit: invalid(5402, '{member} must be empty: {type} is not a traffic event, and cannot be filtered.'),
  sampleRateOfAudit: invalid(90076, '{member} must be 1: {type} is not a traffic event, and is always delivered.'),
  unknownField: invalid(
    90077,
    '{member}: {type} has no field "{actual}", and none below it; `eventTypes` lists all fields.',
  ),
  fieldRepeated: invalid(90078, '{member}: the field {actual} occurs twice.'),
  tooManyFields: invalid(90079, '{member} may name at most {max} fields.'),
  filterTooLong: invalid(90082, '{member} must be at most {max} bytes; this one has {actual}.'),
  badFilter: invalid(90083, '{member} {reason}.'),
  badSampleRate: invalid(90084, '{member} must be above 0, and at most 1.'),

  // Trying event destinations.
  tooManyTrials: [
    90085,
    429,
    'RATE_LIMITED',
    'An account may test its event destinations {limit} times a minute; try again in {seconds} s.',
  ],
} satisfies Record<string, ErrorRow>;

/** The row of an error that a sink declares; errors that other inputs have as well go by their names. */
export function toApiRow(error: TargetErrorRow | SharedTargetError): ErrorRow | SharedTargetError {
  return typeof error === 'string' ? error : invalid(error.number, error.text);
}

/** The errors that the descriptors of the sinks declare. They are thrown by row, so that no caller needs their names. */
export const sinkErrors: object = Object.fromEntries(
  sinkNames.flatMap((name) =>
    Object.entries(descriptorOf(name).errors ?? {}).map(([error, { number, text }]) => [error, invalid(number, text)]),
  ),
);
