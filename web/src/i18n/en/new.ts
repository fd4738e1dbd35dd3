export const newSession = {} as const;
