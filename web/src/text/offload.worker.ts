// The worker's side of offload.ts: one question, one answer.

import { highlighted } from './code/highlighter';
import type { Answer, Question } from './offload';

const worker = globalThis as unknown as {
  addEventListener(type: 'message', listener: (event: MessageEvent<Question>) => void): void;
  postMessage(answer: Answer): void;
};

worker.addEventListener('message', (event) => void answer(event.data));

async function answer(question: Question): Promise<void> {
  try {
    const result = await highlighted(question.text, question.language);
    worker.postMessage({ id: question.id, result });
  } catch (error) {
    worker.postMessage({ id: question.id, failed: String(error) });
  }
}
