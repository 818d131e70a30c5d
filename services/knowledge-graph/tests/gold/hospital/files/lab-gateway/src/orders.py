"""Lab Gateway: sends orders to the analysers."""

import logging

import httpx

from hl7parse import Message
from results import ResultWriter

# from bedboard import Ward   the ward comes from Patient Index now


class OrderSender:
    """Asks Patient Index for the patient of an order."""

    def __init__(self, http: httpx.Client, index_url: str = "http://patient-index:8080") -> None:
        self._http = http
        self._url = index_url

    def send(self, order: Message) -> None:
        logging.info("order %s", order.number)
        patient = self._http.get(f"{self._url}/patients/{order.patient}").json()
        ResultWriter().expect(order.number, patient)
