// The errors of event destinations and subscriptions.

import { bad, conflict, type Row } from '../../error-row.ts';

export const eventErrors = {
  // Event destinations and subscriptions.
  badFormat: bad(235, '{member} must be "json".'),
  targetMissing: bad(5100, '{member} is required: one of {known}.'),
  severalTargets: bad(5115, '{member} must have exactly one of {known}; this one has {actual}.'),
  targetMemberMissing: bad(90060, '{member} is required.'),
  targetMemberTooLong: bad(90061, '{member} must be at most {max} bytes; this one has {actual}.'),
  authMissing: bad(5106, '{member} is required: role or creds.'),
  authEmpty: bad(5107, '{member} must have role or creds.'),
  authBoth: bad(5116, '{member} must have only one of role and creds.'),
  badRoleArn: bad(5104, '{member} must be the ARN of an IAM role, as in arn:aws:iam::123456789012:role/delivery.'),
  malformedArn: bad(5120, '{member} must be an ARN: arn:partition:service:region:account:resource.'),
  arnPartition: bad(5118, '{member}: "{actual}" is not an AWS partition.'),
  arnRegion: bad(90069, '{member}: "{actual}" is not a region of the partition {partition}.'),
  arnAccount: bad(90070, '{member}: the account must be 12 digits.'),
  arnService: bad(5119, '{member} must be the ARN of {expected}.'),
  arnResource: bad(5129, '{member} must be the ARN of {expected}.'),
  badAccessKeyId: bad(240, '{member} must be 16 to 128 letters and digits.'),
  datadogKeyMissing: bad(5133, '{member} is required.'),
  badDatadogSite: bad(5134, '{member} must be one of {known}.'),
  badAzureUri: bad(90062, '{member} must be https:// and a host under {known}.'),
  badUuid: bad(90063, '{member} must be a UUID.'),
  badRuleId: bad(
    90064,
    '{member} must be the immutable id of a data collection rule: "dcr-" and 32 hexadecimal digits.',
  ),
  badStreamName: bad(
    90065,
    '{member} must begin with "Custom-" or "Microsoft-" and have letters, digits, "_" and "-".',
  ),
  webhookForbidden: bad(90071, '{member} {reason}.'),
  badSigningSecret: bad(90072, '{member} must be 16 bytes at least, as they are or, after "whsec_", in base64.'),
  noFileDestinations: bad(90073, '{member}: this gateway writes no files; its operator has not set EVENT_FILE_DIR.'),
  badFileName: bad(
    90075,
    '{member} must be a bare file name: 1 to 100 letters, digits, ".", "_" and "-", the first a letter or a digit.',
  ),
  secretNeeded: bad(90066, '{member} must be given again, because the target leads somewhere else.'),
  destinationInUse: conflict(
    5112,
    'The event destination is still used by an event subscription; remove it there first.',
  ),
  unknownDestination: bad(5103, '{member} must name an event destination of this account.'),
  destinationRepeated: bad(90067, '{member} stands twice in the list.'),
  tooManyDestinations: bad(5126, '{member} may name at most {max} event destinations.'),
  unknownEventType: bad(238, '{member} must be one of {known}.'),
  eventTypeRepeated: bad(5127, '{member}: the event type {type} stands twice.'),
  sourceNotThere: [5125, 404, 'NOT_FOUND', 'The event subscription has no source of this type.'],
  sourceThere: conflict(90068, 'The event subscription already has a source of this type.'),
  fieldsOfAudit: bad(5401, '{member} must be empty: {type} is no traffic event, and always delivered whole.'),
  filterOfAudit: bad(5402, '{member} must be empty: {type} is no traffic event, and cannot be filtered.'),
  sampleRateOfAudit: bad(90076, '{member} must be 1: {type} is no traffic event, and always delivered.'),
  unknownField: bad(90077, '{member}: {type} has no field "{actual}", and none below it; `eventTypes` has them all.'),
  fieldRepeated: bad(90078, '{member}: the field {actual} stands twice.'),
  tooManyFields: bad(90079, '{member} may name at most {max} fields.'),
  filterTooLong: bad(90082, '{member} must be at most {max} bytes; this one has {actual}.'),
  badFilter: bad(90083, '{member} {reason}.'),
  badSampleRate: bad(90084, '{member} must be above 0, and at most 1.'),

  // Trying event destinations.
  tooManyTrials: [
    90085,
    429,
    'RATE_LIMITED',
    'An account may test its event destinations {limit} times a minute; try again in {seconds} s.',
  ],
} satisfies Record<string, Row>;
