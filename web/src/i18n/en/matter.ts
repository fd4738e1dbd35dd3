export const matter = {} as const;
