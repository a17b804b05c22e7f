// The errors of agents, and of what devices are provisioned with.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const fleetErrors = {
  notYourAgentToChange: [
    90600,
    403,
    'FORBIDDEN',
    'Only admins and the owner of the credential of this agent may change it.',
  ],
  agentNameTooLong: invalid(90601, '{member} must be at most {max} bytes; it has {actual}.'),
  selectionTextTooLong: invalid(90602, '{member} must be at most {max} characters.'),
  agentOnline: conflict(90603, 'This agent is online. Only an agent that is offline can be forgotten.'),
  badProvisioningLimit: invalid(90604, '{member} must be a whole number from 1 to {max}.'),
  unknownProvisioningKey: [
    90605,
    401,
    'UNAUTHENTICATED',
    'This provisioning key is not valid: it is unknown, or its owner is not active.',
  ],
  provisioningKeyOver: [90606, 403, 'FORBIDDEN', 'This provisioning key {reason}. Ask for a new one.'],
  badDeviceId: invalid(90607, '{member} must be 16 to 64 letters, digits, "-" or "_".'),
  badDeviceName: invalid(
    90608,
    '{member} must be 1 to 63 letters, digits and hyphens, as the rules of this provisioning key have it in the names that the device may bind.',
  ),
  rotationUnderWay: conflict(90609, 'An earlier replacement of this authtoken is under way. Finish it first.'),
  badOverlap: invalid(90610, '{member} must be from 0 to {max}.'),
  operatorBinding: invalid(
    90613,
    '{member}: the gateway brings no endpoints into Kubernetes clusters. Leave "binding" and the feature "bindings" out (the chart’s value bindings.enabled=false).',
  ),
  operatorTextTooLong: invalid(90614, '{member} must be at most {max} bytes; it has {actual}.'),
  tooManyFeatures: invalid(90615, '{member} may have at most {max} entries.'),
  noAgentSelected: invalid(90611, 'Say which agents: by ids, label, credentialId or version.'),
  tooManyAgentsSelected: invalid(
    90612,
    '{count} agents are selected; at most {max} can be told at once. Select fewer.',
  ),
} as const satisfies Record<string, ErrorRow>;
