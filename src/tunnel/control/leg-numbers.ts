// The numbers of the sessions that an agent has at once.

/** The highest number that an agent may give to a session. */
export const LEG_MAX = 3;
/** The highest number of a session whose agent has moved its tunnels to another one, and that only finishes its streams. */
const LEFT_LEG_MAX = 15;

/** The numbers for such sessions of one leg: the agent may move again while earlier sessions finish their streams. */
export const leftLegs = { step: LEG_MAX + 1, max: LEFT_LEG_MAX };
