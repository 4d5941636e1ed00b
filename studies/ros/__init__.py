"""The studies' client on the real authority node: requests are service calls, readings are messages on
topics.
"""
